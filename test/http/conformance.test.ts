/**
 * The conformance suite itself: a correct server passes, and a server with one fault fails exactly
 * the rules about it.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../../scripts/conformance/client.js'
import { Context, type Keys } from '../../scripts/conformance/context.js'
import { Failure } from '../../scripts/conformance/expect.js'
import { choiceConfidence, scoreConfidence } from '../../scripts/conformance/formulas.js'
import { countsOf, tableOf } from '../../scripts/conformance/report.js'
import { type Rule, runRules, section } from '../../scripts/conformance/rule.js'
import { rules } from '../../scripts/conformance/rules.js'
import { createCors } from '../../src/http/access/cors.js'
import { withProxy } from '../helpers/faulty-proxy.js'
import { blindFaults, imageFaults } from '../helpers/limit-faults.js'
import { faults } from '../helpers/server-faults.js'
import { ofWorkspaces, type StubServer, withFake } from '../helpers/stub.js'
import { outcomeOf } from '../helpers/command.js'

/** A real decider and the real wire over an engine without a model. */
function withFakeModel(use: (server: KeyedServer) => Promise<void>, vision = false) {
  const facts = { aliases: ['alias'] }
  const options = { vision, facts, admissionOf: ofWorkspaces, cors: createCors(origin) }
  return withFake(options, (server) => {
    const { accounts, key } = server
    const { id } = accounts.workspaces.create('narrow')
    accounts.terms.setLimits(id, { concurrent: 2 })
    const { secret: narrow } = accounts.createKey('narrow', 'narrow')
    return use({ ...server, keys: { key, narrow, origin } })
  })
}

interface KeyedServer extends StubServer {
  readonly keys: Keys
}

const origin = 'https://app.example'
const none = { key: 'oi-' }

async function run(url: string, keys: Keys, chosen: readonly Rule[] = rules) {
  const client = new Client(url)
  try {
    return await runRules(chosen, new Context(client, keys))
  } finally {
    client.close()
  }
}

t.test('every rule is named once', async (t) => {
  const names = rules.map(({ section, name }) => `${section} ${name}`)
  t.equal(new Set(names).size, names.length)
})

t.test("the formulas give the interface's worked values", async (t) => {
  for (const [p, confidence] of [
    [[0.61, 0.2, 0.19], 0.415],
    [[0.74, 0.1, 0.1, 0.05, 0.01], 0.675],
    [[0.85, 0.15, 0], 0.775],
    [[1], 1],
  ] as const) {
    t.ok(Math.abs(choiceConfidence(p) - confidence) < 5e-4, `choice ${p.join()}`)
  }
  for (const [p, confidence] of [
    [[0, 0.57, 0.43], 0.355],
    [[0, 0.95, 0.05], 0.925],
    [[0, 0.48, 0.52, 0], 0.52],
    [[0.0023, 0.116, 0.6753, 0.2064], 0.673],
    [[0, 0, 0.86, 0.14, 0], 0.8833],
    [[1], 1],
  ] as const) {
    t.ok(Math.abs(scoreConfidence(p) - confidence) < 5e-4, `score ${p.join()}`)
  }
})

t.test('this server keeps every rule', (t) =>
  withFakeModel(async ({ url, keys }) => {
    const results = await run(url, keys)
    const failed = results.filter(({ outcome }) => outcome === 'FAIL')
    t.strictSame(failed, [])
    for (const { rule, outcome, seen } of results) {
      if (outcome === 'skipped')
        t.match(seen, /needs a|no model in|from outside|has no limit/, rule)
    }
  }),
)

/** Two thirds of a run's time: run on a faulty server only if it is to break them. */
const dear = [
  'decisions/Errors 413: a compressed body that comes to more than a body may be',
  'decisions/Errors 401 invalid_api_key: always for a wrong key, also after many, and a right one is taken',
  'decisions/Headers a reply is compressed only as it is asked for, says so to caches, and holds the same',
  'decisions/Keys, workspaces, limits, money three hundred requests at once are answered',
  'decisions/Responses choice is the likeliest option, however close the second is',
  'decisions/Responses no part of an answer goes into the answers beside it, however small',
  'decisions/Batch NDJSON: a result is sent when it is ready, not with the last of them',
  '2.1 state: it is read as finely as instructions: case, spaces, forms of letters',
  '2.1 state: an array is not the text of its members',
  '2.1 state: all of it is read, its beginning and its end',
  '2.6 every error is application/json',
  'decisions/Keys, workspaces, limits, money a batch of more items than the workspace has places is answered',
]
const rulesFor = (broken: readonly string[]) =>
  rules.filter(({ section, name }) => {
    const rule = `${section} ${name}`
    return broken.includes(rule) || !dear.includes(rule)
  })

t.test('ninety faults are planted', async (t) => {
  const harmless = ['sends empty lines in a stream']
  const planted = [faults, imageFaults, blindFaults].flatMap(Object.keys)
  t.equal(new Set(planted).size, planted.length)
  t.ok(planted.filter((what) => !harmless.includes(what)).length >= 90, `${planted.length}`)
})

t.test('the slow rules exist', async (t) => {
  t.equal(rulesFor([]).length, rules.length - dear.length)
})

// A third of a run is waiting.
t.jobs = 3

for (const [what, { fails, ...fault }] of Object.entries(faults)) {
  t.test(`a server that ${what} fails the rules about that`, { buffered: true }, (t) =>
    withFakeModel(({ url, keys }) =>
      withProxy(url, fault, async (faulty) => {
        const results = await run(faulty, keys, rulesFor(fails))
        const failed = results.filter(({ outcome }) => outcome === 'FAIL')
        t.strictSame(failed.map(({ rule }) => rule).sort(), [...fails].sort())
        for (const { rule, seen } of failed) t.not(seen, '', rule)
      }),
    ),
  )
}

const ofImages = rules.filter(({ section }) => section === '2.3' || section === 'decisions/Images')

t.test('a server with vision keeps the rules of images', (t) =>
  withFakeModel(async ({ url, keys }) => {
    const failed = (await run(url, keys, ofImages)).filter(({ outcome }) => outcome === 'FAIL')
    t.strictSame(failed, [])
  }, true),
)

for (const [sees, what, { fails, ...fault }] of [
  ...Object.entries(imageFaults).map((each) => [true, ...each] as const),
  ...Object.entries(blindFaults).map((each) => [false, ...each] as const),
]) {
  t.test(`a server that ${what} fails the rules about that`, (t) =>
    withFakeModel(
      ({ url, keys }) =>
        withProxy(url, fault, async (faulty) => {
          const results = await run(faulty, keys, ofImages)
          const failed = results.filter(({ outcome }) => outcome === 'FAIL')
          t.strictSame(failed.map(({ rule }) => rule).sort(), [...fails].sort())
        }),
      sees,
    ),
  )
}

t.test('a missing server fails every rule', async (t) => {
  const chosen = rules.filter(({ name }) => name.startsWith('GET /healthz'))
  t.match(await run('http://127.0.0.1:9', none, chosen), [
    { outcome: 'FAIL', seen: /no whole reply: / },
  ])
})

t.test('a result is a row of the table, and is counted', async (t) => {
  const made = section('9', {
    'a rule that holds': async () => {},
    'a rule that does not': async () => {
      throw new Failure('seen instead')
    },
  })
  const results = await run('http://127.0.0.1:9', none, made)
  t.equal(countsOf(results), '1 passed, 1 failed, 0 skipped')
  t.match(tableOf(results), /^FAIL +9 a rule that does not\n +seen instead$/m)
})

const script = fileURLToPath(new URL('../../scripts/conformance/main.js', import.meta.url))

async function command(...args: string[]) {
  const { code, stdout, stderr } = await outcomeOf(spawn(process.execPath, [script, ...args]))
  return { code, output: stdout + stderr }
}

t.test('the command ends with 0 if all rules hold, with 1 if not', (t) =>
  withFakeModel(async ({ url, key }) => {
    const json = join(t.testdir(), 'results.json')
    const args = ['--key', key, '--only', 'GET /healthz']
    const right = await command('--url', url, ...args, '--json', json)
    t.equal(right.code, 0, right.output)
    t.match(right.output, /1 passed, 0 failed, 0 skipped$/m)
    t.match(JSON.parse(readFileSync(json, 'utf8')), [{ outcome: 'pass', rule: /healthz/ }])
    const wrong = await command('--url', `${url}/elsewhere`, ...args)
    t.equal(wrong.code, 1, wrong.output)
    t.match(wrong.output, /0 passed, 1 failed, 0 skipped$/m)
  }),
)

t.test('wrong usage ends with 2 and the remedy', async (t) => {
  for (const [args, says] of [
    [[], /--url: expected/],
    [['--url', 'nowhere', '--key', 'a'], /--url: expected/],
    [['--url', 'http://127.0.0.1:9', '--key', ''], /--key: expected/],
    [['--url', 'http://127.0.0.1:9', '--key', 'a', '--only', 'no rule'], /--only: no rule/],
    [['--urls'], /--urls/],
  ] as const) {
    const { code, output } = await command(...args)
    t.equal(code, 2, output)
    t.match(output, says)
    t.match(output, /^Usage: npm run conformance/m)
  }
})
