/** `oi ask` as a child process, over an engine without a model and against a server. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DecideRequest } from '../../src/decide/types.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { plain } from '../helpers/pictures.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'

const ask = (args: readonly string[], input = '', environment: Record<string, string> = {}) =>
  ended(new RunningCommand(['ask', ...args], 'fake', environment, input))
const local = ['--model', 'fake.gguf']

t.test('flags become questions in their order, and answers a table', async (t) => {
  const { code, stdout, stderr } = await ask([
    'A state',
    ...local,
    ...['--score', 'How?=low,high', '--noul', 'sure=Is it?', '--choice', 'Which?=a,b:the other'],
  ])
  t.equal(code, 0)
  t.match(stdout, /^q1: .*\n {2}How\?\n.*^sure: .*\n {2}Is it\?\n.*^q3: .*^fake: \d+ tokens in/ms)
  t.notMatch(stdout, '\u001b')
  t.equal(stderr, 'The weights of fake are random\nModel closed\n')
})

t.test('--json is the response body, whatever the source of state and questions', async (t) => {
  const questions = { q1: { type: 'noul', instructions: 'Is it?' } }
  const state = { b: 1, a: [true] }
  const dir = t.testdir({
    state: `${JSON.stringify(state)}\n`,
    questions: JSON.stringify(questions),
    request: JSON.stringify({ state, questions }),
  })
  const text = JSON.stringify(state)
  const outputs = new Set<string>()
  for (const [args, input] of [
    [[text, '--json-state', '--noul', 'Is it?']],
    [['--json-state', '--noul', 'Is it?'], text],
    [['-', '--questions', JSON.stringify(questions)], `${text}\n`],
    [['--state-file', join(dir, 'state'), '--questions', join(dir, 'questions')]],
    [['--request', join(dir, 'request')]],
    [['--request', '-'], JSON.stringify({ state, questions })],
  ] as const) {
    const { code, stdout } = await ask([...args, ...local, '--json'], input)
    t.equal(code, 0, args.join(' '))
    t.ok(stdout.endsWith('}\n'))
    const { answers, model, usage } = JSON.parse(stdout)
    outputs.add(JSON.stringify({ answers, model, usage }))
  }
  t.equal(outputs.size, 1)
})

t.test('--image sends images, to its own model and to a server', async (t) => {
  const dir = t.testdir()
  const [cat, dog] = [join(dir, 'cat.png'), join(dir, 'dog')]
  writeFileSync(cat, await plain(60, 30).png().toBuffer())
  writeFileSync(dog, await plain(20, 20).jpeg().toBuffer())
  const asked = ['--image', cat, '--image', dog, '--noul', 'Is it?', '--json']
  const seen = await ask([...asked, ...local, '--mmproj', 'p.gguf'])
  t.equal(seen.code, 0, seen.stderr)
  t.equal(JSON.parse(seen.stdout).usage.image_tokens, 7)

  const blind = await ask([...asked, ...local])
  t.equal(blind.code, 1)
  t.match(blind.stderr, /^oi: images: expected no image/m)

  let body: DecideRequest | undefined
  const decider = stubDecider(async (request) => {
    body = request
    return decision
  })
  await withServer({ decider }, async ({ url, key }) => {
    t.equal((await ask(['Who?', ...asked, '--url', url, '--key', key])).code, 0)
  })
  t.match(body, { state: 'Who?', images: [/^data:image\/png;base64,iVBO/, /^data:image\/jpeg;/] })
})

t.test('--evidence adds the label mass', async (t) => {
  const { stdout } = await ask(['x', '--noul', 'y', '--evidence', ...local])
  t.match(stdout, /label mass 50.0 %/)
})

t.test('--orders averages orders, with its own model and on a server', async (t) => {
  const question = ['x', '--choice', 'Which?=a,b,c', '--evidence']
  const averaged = await ask([...question, '--orders', '2', ...local])
  t.match(averaged.stdout, /order spread \d+\.\d %/)
  t.equal((await ask([...question, ...local], '', { OI_ORDERS: '2' })).stdout, averaged.stdout)

  const asked: unknown[] = []
  const decider = stubDecider(async (_request, options) => {
    asked.push(options?.orders)
    return decision
  })
  await withServer({ decider }, async ({ url, key }) => {
    const server = ['--url', url, '--key', key]
    t.equal((await ask([...question, '--orders', 'all', ...server])).code, 0)
    // The environment is about the command's own model.
    t.equal((await ask([...question, ...server], '', { OI_ORDERS: '2' })).code, 0)
  })
  t.strictSame(asked, ['all', undefined])
})

for (const [title, args, message, input = ''] of [
  ['no question', ['x'], /no question: ask with --noul/],
  ['no state', ['--noul', 'y'], /standard input is empty/],
  ['two states', ['x', '--state-file', 'y', '--noul', 'z'], /two states/],
  ['a state that is no JSON', ['{', '--json-state', '--noul', 'y'], /--json-state.*JSON/],
  [
    'a state that is no text',
    ['--state-file', '/', '--noul', 'y'],
    /--state-file \/: it is a folder/,
  ],
  [
    'no file of questions',
    ['x', '--questions', 'nowhere'],
    /--questions nowhere: there is no such file/,
  ],
  ['questions that are no object', ['--questions', '{"a":1,"a":2}'], /two questions named "a"/],
  ['a name twice', ['x', '--noul', 'a=1', '--noul', 'a=2'], /two questions named "a"/],
  ['a request and a question', ['--request', '-', '--noul', 'y'], /whole request/, '{}'],
  ['a request and a picture', ['--request', '-', '--image', 'y'], /whole request/, '{}'],
  [
    'a picture that is not there',
    ['--image', 'no.png', '--noul', 'y'],
    /--image no\.png: there is no such file/,
  ],
  [
    'a picture that is none',
    ['--image', 'package.json', '--noul', 'y'],
    /--image package\.json: expected one of image\/png/,
  ],
  ['a bad flag', ['x', '--choice', 'y'], /--choice "Which team/],
  ['no key', ['x', '--noul', 'y', '--url', 'http://localhost'], /OI_KEY/],
  ['no address', ['x', '--noul', 'y', '--url', 'localhost:1', '--key', 'k'], /--url: expected/],
  [
    'other orders',
    ['x', '--noul', 'y', '--url', 'http://a', '--key', 'k', '--orders', '3'],
    /--orders: expected "auto" or 1 or 2 or "all", got 3/,
  ],
  ['a broken key', ['x', '--noul', 'y', '--url', 'http://a', '--key', 'é'], /The key has/],
] as const) {
  t.test(`${title} is wrong usage: 2`, async (t) => {
    const { code, stdout, stderr } = await ask([...args], input)
    t.equal(code, 2)
    t.equal(stdout, '')
    t.match(stderr, message)
  })
}

t.test('a model file makes no sense with --url', async (t) => {
  const { code, stderr } = await ask([
    'x',
    '--noul',
    'y',
    '--url',
    'http://a',
    '--key',
    'k',
    ...local,
  ])
  t.equal(code, 2)
  t.match(stderr, /leave out --model/)
})

t.test('a refused request ends the command with 1, before the model is loaded', async (t) => {
  const { code, stderr } = await ask(['--request', '-', ...local], '{"state":1,"questions":{}}')
  t.equal(code, 1)
  t.match(stderr, /^oi: questions: expected .*\n$/)
})

t.test('--url asks a server', (t) =>
  withServer({}, async ({ url, key, port }) => {
    const question = ['x', '--noul', 'q=y']
    for (const [address, more, environment] of [
      [url, ['--key', key], { OI_KEY: 'oi-wrong' }],
      [`${url}/v1/`, [], { OI_KEY: key, OI_API_KEY: 'oi-wrong' }],
      [url, [], { OI_API_KEY: key }],
    ] as const) {
      const { code, stdout } = await ask([...question, '--url', address, ...more], '', environment)
      t.equal(code, 0)
      t.match(stdout, /^q: yes\n {2}y\n.*75\.0 %.*^stub: 12 tokens in/ms)
    }
    const body = join(t.testdir(), 'body.json')
    writeFileSync(body, '{"state":1}')
    const raw = await ask(['--request', body, '--url', url, '--key', key, '--json'])
    t.match(JSON.parse(raw.stdout), { model: 'stub', usage: { input_tokens: 12 } })

    const refused = await ask([...question, '--url', url, '--key', 'oi-wrong'])
    t.equal(refused.code, 1)
    t.match(refused.stderr, /\/v1\/systemone answered 401 invalid_api_key: \S/)
    t.match(await ask([...question, '--url', `http://127.0.0.1:${port}/x`, '--key', key]), {
      code: 1,
      stderr: /404 not_found/,
    })
  }),
)

t.test('a missing server ends the command with 1 and the reason', async (t) => {
  let url = ''
  await withServer({}, async (server) => {
    url = server.url
  })
  const { code, stderr } = await ask(['x', '--noul', 'y', '--url', url, '--key', 'k'])
  t.equal(code, 1)
  t.match(stderr, /Cannot reach .*nothing listens there/)
})
