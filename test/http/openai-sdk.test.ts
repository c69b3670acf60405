/**
 * The npm package `openai`, unmodified, as far as it speaks this API: `decisions`. The package asks
 * for Node 22: with an older Node it is tried, and skipped if it fails.
 */
import t from 'tap'
import type OpenAI from 'openai'
import { dataUrl, png } from '../helpers/pictures.js'
import {
  Slow,
  stubDecider,
  type StubServer,
  withServer,
  withFake,
  realWire,
} from '../helpers/stub.js'
import { until } from '../helpers/until.js'
import { post } from '../helpers/asking.js'

const [major] = process.versions.node.split('.')
let Client: typeof OpenAI | undefined
try {
  Client = (await import('openai')).default
} catch (error) {
  if (Number(major) >= 22) throw error
}
const skip = Client === undefined && `openai needs Node 22, this is ${process.versions.node}`

const connect = ({ url, key }: StubServer) =>
  new Client!({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })

const instructions = 'Is it about money?'
const predicate = { type: 'predicate', instructions } as const
const input = 'I was charged twice.'

const errorOf = (pending: Promise<unknown>) => pending.catch((error: unknown) => error)

/** The answers of the interface's own route. */
async function own(server: StubServer, body: object) {
  return (await (await post(server, body)).json()) as {
    answers: Record<string, Record<string, unknown>>
    usage: Record<string, number>
  }
}

t.test('questions of all types have the answers of the interface’s own route', { skip }, (t) =>
  withFake({}, async (server) => {
    const reply = await connect(server).decisions.create({
      ...{ model: 'jev-latest', input, safety_identifier: 'user-7', prompt_cache_key: 'a' },
      questions: [
        { ...predicate, name: 'money' },
        {
          ...{ type: 'choice', name: 'money', instructions: 'Which?' },
          choices: [{ value: 'billing', description: 'payments' }, { value: '7' }, { value: true }],
        },
        {
          ...{ type: 'score', instructions: [{ type: 'input_text', text: 'How urgent?' }] },
          levels: [{ label: 'low' }, { label: 'high', description: 'today' }],
        },
      ],
    })
    const criteria = { billing: 'payments', '7': null, true: null }
    const { answers, usage } = await own(server, {
      state: input,
      questions: {
        a: { type: 'noul', instructions },
        // As text: JavaScript would move names like 7.
        b: { type: 'choice', instructions: 'Which?', criteria },
        c: { type: 'score', instructions: 'How urgent?', criteria: ['low', 'high: today'] },
      },
    })
    t.equal(reply.model, 'fake')
    const [money, which, urgent] = reply.answers
    t.strictSame(money, { type: 'predicate', name: 'money', probability: answers['a']!['noul'] })
    if (which?.type !== 'choice' || urgent?.type !== 'score') throw new Error('other types')
    const values = which.probabilities.map(({ value }) => value)
    t.strictSame(values, ['billing', '7', true])
    t.equal(which.name, 'money')
    const { probabilities } = which
    t.ok(Math.abs(probabilities.reduce((sum, { probability: p }) => sum + p, 0) - 1) < 1e-9)
    const best = Math.max(...probabilities.map(({ probability }) => probability))
    t.equal(probabilities.find(({ probability }) => probability === best)!.value, which.choice)
    t.ok(which.confidence >= 0 && which.confidence <= 1)
    const { score, confidence } = answers['c'] as { score: number; confidence: number }
    const levels = answers['c']!['probabilities'] as Record<string, number>
    t.strictSame(urgent, {
      ...{ type: 'score', name: null, score, confidence },
      probabilities: [
        { value: 0, label: 'low', probability: levels['0'] },
        { value: 1, label: 'high', probability: levels['1'] },
      ],
    })
    t.equal(reply.usage.input_tokens, usage['input_tokens'])
    t.equal(reply.usage.total_tokens, reply.usage.input_tokens + reply.usage.output_tokens)
    t.match(reply.usage, {
      input_tokens_details: { cached_tokens: Number, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
  }),
)

t.test('every kind of input becomes the right state', { skip }, (t) =>
  withFake({}, async (server) => {
    const { decisions } = connect(server)
    const call = {
      type: 'function_call',
      call_id: 'c1',
      name: 'look',
      arguments: '{"a":1}',
    } as const
    const custom = { type: 'custom_tool_call', call_id: 'c2', name: 'run', input: 'ls' } as const
    const text = (text: string) => ({ type: 'input_text', text }) as const
    for (const [given, state] of [
      [[{ role: 'user', content: input }], input],
      [[{ role: 'user', content: [text('one'), text('two')] }], 'one\ntwo'],
      [[{ role: 'user', content: [{ type: 'input_json', data: { a: [1.5] } }] }], { a: [1.5] }],
      [
        [
          { role: 'system', content: 'Be strict.' },
          { role: 'user', content: [text('a'), { type: 'input_json', data: { b: 1 } }] },
          {
            ...{ type: 'message', role: 'assistant', phase: 'final_answer' },
            content: [
              { type: 'output_text', text: 'No.' },
              { type: 'refusal', refusal: 'I cannot.' },
            ],
          },
          { ...call, id: 'x', status: 'completed' },
          { type: 'function_call_output', call_id: 'c1', output: [text('found')] },
          custom,
          { type: 'custom_tool_call_output', call_id: 'c2', output: 'none' },
        ],
        [
          { role: 'system', content: 'Be strict.' },
          { role: 'user', content: ['a', { b: 1 }] },
          { role: 'assistant', content: ['No.', { refusal: 'I cannot.' }] },
          call,
          { type: 'function_call_output', call_id: 'c1', output: 'found' },
          custom,
          { type: 'custom_tool_call_output', call_id: 'c2', output: 'none' },
        ],
      ],
    ] as const) {
      const body = { model: 'fake', input: given, questions: [predicate] }
      const { answers, usage } = await decisions.create(
        body as unknown as Parameters<typeof decisions.create>[0],
      )
      const meant = await own(server, { state, questions: { q: { type: 'noul', instructions } } })
      t.strictSame(answers, [
        { type: 'predicate', name: null, probability: meant.answers['q']!['noul'] },
      ])
      t.equal(usage.input_tokens, meant.usage['input_tokens'])
    }
  }),
)

t.test('an image is seen at its place, or refused there', { skip }, async (t) => {
  const image = {
    type: 'input_image',
    image_url: dataUrl(await png(40, 30)),
    detail: 'low',
  } as const
  const text = { type: 'input_text', text: 'See:' } as const
  const asking = (content: (typeof image | typeof text)[]) => ({
    ...{ model: 'fake', questions: [predicate] },
    input: [{ role: 'user', content }] as [{ role: 'user'; content: typeof content }],
  })
  await withFake({ vision: true }, async (server) => {
    const { decisions } = connect(server)
    const { answers, usage } = await decisions.create(asking([text, image]))
    const state = ['See:', { type: 'input_image', image_url: image.image_url }]
    const meant = await own(server, { state, questions: { q: { type: 'noul', instructions } } })
    t.match(answers, [{ probability: meant.answers['q']!['noul'] }])
    t.equal(usage.input_tokens, meant.usage['input_tokens'])
    const remote = { ...image, image_url: 'https://example.com/a.png' }
    for (const [content, place] of [
      [[text, remote], 'input[0].content[1].image_url'],
      [[remote], 'input[0].content[0].image_url'],
    ] as const) {
      t.match(await errorOf(decisions.create(asking([...content]))), { status: 400, param: place })
    }
  })
  await withFake({}, async (server) => {
    t.match(await errorOf(connect(server).decisions.create(asking([text, image]))), {
      status: 400,
      param: 'input[0].content[1]',
    })
  })
})

t.test("errors are the package's own, with the places of the original body", { skip }, (t) =>
  withFake({}, async (server) => {
    const { decisions } = connect(server)
    const { BadRequestError, AuthenticationError, UnprocessableEntityError } = Client!
    t.match(await errorOf(decisions.create({ model: 'gpt-9', input, questions: [predicate] })), {
      ...{ status: 400, constructor: BadRequestError, param: 'model', code: 'invalid_request' },
      ...{ type: 'invalid_request_error', message: /model: expected .*fake/ },
    })
    t.match(await errorOf(decisions.create({ model: 'fake', input, questions: [] })), {
      ...{ status: 422, constructor: UnprocessableEntityError, param: 'questions' },
      message: /expected 1 to 400 questions, got 0/,
    })
    const wrong = new Client!({ baseURL: `${server.url}/v1`, apiKey: 'sk-1', maxRetries: 0 })
    t.match(
      await errorOf(wrong.decisions.create({ model: 'fake', input, questions: [predicate] })),
      {
        ...{ status: 401, constructor: AuthenticationError, code: 'invalid_api_key' },
      },
    )
    t.equal(server.handlers.running.size, 0)
  }),
)

t.test('a caller that gives up stops the work of the server', { skip }, async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide), wire: realWire }, async (server) => {
    const aborter = new AbortController()
    const body = { model: 'stub', input, questions: [predicate] }
    const pending = connect(server).decisions.create(body, { signal: aborter.signal })
    await until(() => slow.signals.length === 1)
    aborter.abort()
    t.ok((await errorOf(pending)) instanceof Client!.APIUserAbortError)
    await until(() => slow.signals[0]!.aborted)
  })
})
