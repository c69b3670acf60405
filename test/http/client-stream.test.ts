/** Batches, streams and usage of `oi-systemone/client`, with a server that plays the interface. */
import t from 'tap'
import { createClient, OiRequestError } from '../../src/client/index.js'
import {
  type Answering,
  play,
  refusal,
  sendJson,
  sendPieces,
  withHttpServer,
} from '../helpers/http-server.js'

const questions = {
  'naß?': { type: 'noul', instructions: 'Wet?' },
  team: { type: 'choice', criteria: { a: 'one 👍🏽', b: 'two' } },
} as const
const states = Array.from({ length: 40 }, (_, i) => (i === 7 ? 'bad' : `state ${i}`))

const connect = (url: string, maxRetries = 0) =>
  createClient({ baseUrl: url, apiKey: 'oi-key', maxRetries })

const codeOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.catch((error: unknown) => error)
  return error instanceof OiRequestError ? error.code : error
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

t.test('a batch of requests has results in order, each with its own type', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const { results, usage, latency_ms, requestId } = await connect(url).batch(
      [
        { id: 'x', state: 1, questions: { wet: { type: 'noul', instructions: 'Wet?' } } },
        { state: 'bad', questions },
        { state: 2, questions: { how: { type: 'score', criteria: ['a', 'b'] } }, model: 'm' },
      ],
      { evidence: true, requestId: 'mine' },
    )
    const [first, second, third] = results
    if (first.error === undefined) {
      const yes: number = first.answers.wet.noul
      t.equal(yes, 0.75)
    } else t.fail(first.detail)
    if (third.error === undefined) t.equal(third.answers.how.score, 0.5)
    else t.fail(third.detail)
    t.match(first, { index: 0, id: 'x', status: 200 })
    t.match(second, { index: 1, status: 422, error: { code: 'invalid_request' } })
    t.equal(usage.input_tokens, 7)
    t.equal(latency_ms, 2)
    t.equal(requestId, 'played')
    t.match(received, [
      { path: '/v1/systemone/batch', headers: { 'x-oi-evidence': '1', 'x-request-id': 'mine' } },
    ])
    t.match(JSON.parse(received[0]!.body), { requests: [{ id: 'x' }, {}, { model: 'm' }] })
  }),
)

t.test('the same questions are asked about many states', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const { results } = await connect(url).batch({ states, questions, model: 'm' })
    t.equal(results.length, states.length)
    for (const item of results) {
      if (item.error === undefined) {
        const team: 'a' | 'b' = item.answers.team.choice
        t.equal(team, 'a')
        t.equal(item.answers['naß?'].noul, 0.75)
      } else t.equal(item.index, 7)
    }
    t.strictSame(JSON.parse(received[0]!.body), { states, questions, model: 'm' })
  }),
)

t.test('a stream yields each result as it comes, and the totals at its end', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const stream = connect(url).stream({ states, questions })
    t.equal(received.length, 0, 'nothing is sent before somebody reads')
    const seen: number[] = []
    for await (const item of stream) {
      seen.push(item.index)
      if (item.error === undefined) t.equal(item.answers['naß?'].noul, 0.75)
      else t.equal(item.index, 7)
      t.equal(stream.totals, undefined)
    }
    t.strictSame(seen, [...states.keys()].reverse())
    t.match(stream.totals, { usage: { input_tokens: 7 }, latency_ms: 2 })
    t.match(received, [{ headers: { accept: 'application/x-ndjson' } }])
    t.strictSame(await all(stream), [], 'it can be read once')
    t.equal(received.length, 1)
  }),
)

t.test('a stream of requests has their types', (t) =>
  withHttpServer(play, async ({ url }) => {
    const stream = connect(url).stream([{ id: 'only', state: 1, questions }])
    for await (const item of stream) {
      if (item.error === undefined) t.equal(item.answers.team.choice satisfies 'a' | 'b', 'a')
      t.equal(item.id, 'only')
    }
    t.ok(stream.totals)
  }),
)

t.test('a result arrives before the next one has been sent', async (t) => {
  let go = () => {}
  const answer: Answering = (_, response) => {
    response.writeHead(200).write('{"index":0,"status":200}\n{"ind')
    go = () => response.end('ex":1,"status":200}\n{"usage":{},"latency_ms":1}')
  }
  await withHttpServer(answer, async ({ url }) => {
    const stream = connect(url).stream({ states, questions })
    const seen: number[] = []
    for await (const { index } of stream) {
      seen.push(index)
      go()
    }
    t.strictSame(seen, [0, 1])
    t.match(stream.totals, { latency_ms: 1 })
  })
})

t.test('leaving the loop, or a failure in it, cancels the request', async (t) => {
  for (const leave of ['break', 'throw'] as const) {
    let closed = () => {}
    const gone = new Promise<void>((resolve) => (closed = resolve))
    const answer: Answering = (_, response) => {
      response.on('close', () => closed())
      response.writeHead(200).write('{"index":0,"status":200}\n')
    }
    await withHttpServer(answer, async ({ url }) => {
      const loop = async () => {
        for await (const item of connect(url).stream({ states, questions })) {
          if (leave === 'throw') throw new Error(`own ${item.index}`)
          break
        }
      }
      if (leave === 'throw') await t.rejects(loop(), { message: 'own 0' })
      else await loop()
      await gone
    })
  }
  t.pass('the server saw both clients go')
})

t.test('an abort ends a stream between two results', async (t) => {
  const answer: Answering = (_, response) =>
    response.writeHead(200).write('{"index":0,"status":200}\n')
  await withHttpServer(answer, async ({ url }) => {
    const controller = new AbortController()
    const stream = connect(url).stream({ states, questions }, { signal: controller.signal })
    const loop = async () => {
      for await (const { index } of stream) {
        t.equal(index, 0)
        controller.abort()
      }
    }
    t.equal(await codeOf(loop()), 'request_aborted')
    t.equal(stream.totals, undefined)
  })
})

for (const [title, body, code] of [
  ['a stream that ends without its totals', '{"index":0,"status":200}\n', 'unexpected_reply'],
  ['a stream of nothing', '', 'unexpected_reply'],
  ['a stream of something else', '<html>\n', 'unexpected_reply'],
  ['a line that is cut', '{"index":0,"sta', 'unexpected_reply'],
  ['a line that is no object', '7\n', 'unexpected_reply'],
] as const) {
  t.test(`${title} is an error`, (t) =>
    withHttpServer(
      (_, response) => void sendPieces(response, Buffer.from(body), 1000),
      async ({ url }) => {
        t.equal(await codeOf(all(connect(url, 5).stream({ states, questions }))), code)
      },
    ),
  )
}

t.test('a stream that is cut is an error, and earlier results stay valid', async (t) => {
  const answer: Answering = (_, response) => {
    response.writeHead(200)
    response.write('{"index":0,"status":200}\n{"index":1,', () => response.destroy())
  }
  await withHttpServer(answer, async ({ url, received }) => {
    const seen: number[] = []
    const loop = async () => {
      for await (const { index } of connect(url, 5).stream({ states, questions })) seen.push(index)
    }
    t.equal(await codeOf(loop()), 'connection_failed')
    t.ok(seen.length <= 1)
    t.equal(received.length, 1, 'it is not begun anew')
  })
})

t.test('a stream that falls silent times out', async (t) => {
  const answer: Answering = (_, response) =>
    response.writeHead(200).write('{"index":0,"status":200}\n')
  await withHttpServer(answer, async ({ url }) => {
    const stream = connect(url).stream({ states, questions }, { timeoutMs: 200 })
    t.equal(await codeOf(all(stream)), 'request_timeout')
  })
})

t.test('a stream is retried until it begins', async (t) => {
  const answer: Answering = (request, response, count) => {
    if (count > 0) return play(request, response, count)
    sendJson(response, 503, refusal('overloaded'), { 'retry-after-ms': '1' })
  }
  await withHttpServer(answer, async ({ url, received }) => {
    t.equal((await all(connect(url, 1).stream({ states, questions }))).length, states.length)
    t.equal(received.length, 2)
  })
})

t.test('a batch refused as a whole is an error', async (t) => {
  const answer: Answering = (_, response) =>
    sendJson(response, 402, refusal('insufficient_balance', 'empty'))
  await withHttpServer(answer, async ({ url }) => {
    const refused = { code: 'insufficient_balance', status: 402, message: 'empty' }
    await t.rejects(connect(url).batch({ states, questions }), refused)
    await t.rejects(all(connect(url).stream({ states, questions })), refused)
    await t.rejects(connect(url).usage(), refused)
  })
})

t.test("usage is the server's report", (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const { balance, limits, usage } = await connect(url).usage()
    t.equal(balance, null)
    t.strictSame(limits, { requests_per_minute: 6000, concurrent: 64 })
    t.strictSame(usage, [])
    t.match(received, [{ method: 'GET', path: '/v1/usage' }])
  }),
)
