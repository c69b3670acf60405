/**
 * Every way an engine can stop.
 *
 * Needs the built addon and the small fixture. Exit behaviour is observed from outside, in a
 * child process, because "the event loop drains" has no in-process assertion.
 */
import t from 'tap'
import { fork, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fixturePath, input, openEngine, withEngine } from '../helpers/fixture.js'
import { bestOfThree } from '../helpers/trials.js'

const child = fileURLToPath(new URL('../fixtures/engine-child.js', import.meta.url))
const MODEL_PATH = await fixturePath('small')

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  errors: string
}

function exitOf(steps: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Exit> {
  return new Promise((resolve, reject) => {
    let errors = ''
    const process_ = fork(child, steps, {
      env: { ...process.env, ...env, MODEL_PATH },
      execArgv: ['--expose-gc'],
      timeout: 200_000,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    process_.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text))
    process_.on('error', reject)
    // Not 'exit': its last output may still be on its way then.
    process_.on('close', (code, signal) => resolve({ code, signal, errors }))
  })
}

/** Why the number of threads cannot be limited here; false if it can. */
function cannotLimit(): string | false {
  // Root has no limit; for another user, its other processes count.
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
  const user = ['--reuid=54321', '--clear-groups', process.execPath, '-e']
  const read = `require('fs').accessSync(${JSON.stringify(child)})`
  return spawnSync('setpriv', [...user, read]).status === 0 ? false : 'another user cannot run it'
}

// Each prefix of a life, abandoned, and the ways in which it can be cut off.
for (const steps of [
  ['construct'],
  ['construct', 'drop'],
  ['construct', 'open-unawaited'],
  ['construct', 'open-unawaited', 'process.exit'],
  ['construct', 'open-unawaited', 'close'],
  ['construct', 'open-unawaited', 'close-unawaited', 'process.exit'],
  ['construct', 'open'],
  ['construct', 'open', 'drop'],
  ['construct', 'open', 'process.exit'],
  ['construct', 'open', 'score'],
  ['construct', 'open', 'score', 'drop'],
  ['construct', 'open', 'score', 'settle'],
  ['construct', 'open', 'score', 'process.exit'],
  ['construct', 'open', 'score', 'wait', 'process.exit'],
  ['construct', 'open', 'score-many', 'wait', 'process.exit'],
  ['construct', 'open', 'score', 'cancel'],
  ['construct', 'open', 'score-many', 'wait', 'cancel', 'settle'],
  ['construct', 'open', 'score', 'close'],
  ['construct', 'open', 'score-many', 'close-unawaited'],
  ['construct', 'open', 'score-many', 'close-unawaited', 'process.exit'],
  ['construct', 'open', 'score', 'close', 'drop'],
  ['construct', 'close'],
  ['worker', 'construct'],
  ['worker', 'construct', 'open'],
  ['worker', 'construct', 'open', 'score'],
  ['worker', 'construct', 'open', 'score', 'close'],
  ['worker', 'construct', 'open', 'score-many', 'process.exit'],
  ['worker', 'construct', 'terminate'],
  ['worker', 'construct', 'open', 'terminate'],
  ['worker', 'construct', 'open', 'score', 'settle', 'terminate'],
  ['worker', 'construct', 'open', 'score-many', 'terminate'],
  ['worker', 'construct', 'open', 'score-many', 'close-unawaited', 'terminate'],
]) {
  t.test(`exits cleanly after ${steps.join(', ')}`, async (t) => {
    const { code, signal, errors } = await exitOf(steps)
    t.equal(signal, null)
    t.equal(code, 0, errors)
  })
}

// BUG: a thread that waited for work was joined when the next one could not be started; and ggml
// aborted.
t.test('an engine that gets no threads says so and ends', { skip: cannotLimit() }, async (t) => {
  const user = ['setpriv', `--reuid=${54_321 + (process.pid % 1000)}`, '--clear-groups']
  const run = (limit: number) =>
    spawnSync(
      'prlimit',
      [`--nproc=${limit}`, ...user, process.execPath, child].concat([
        'say-threads',
        'construct',
        'open',
        'close',
      ]),
      {
        env: { MODEL_PATH, MODEL_THREADS: '2' },
        timeout: 60_000,
        encoding: 'utf8',
      },
    )
  const free = run(1000)
  t.equal(free.status, 0, free.stderr)
  const own = Number(/(\d+) threads/.exec(free.stderr)?.[1])
  // The engine's threads: inference, two tokenizers, one more for the model.
  for (let more = 0; more <= 4; more++) {
    const { status, signal, stderr } = run(own + more)
    t.equal(signal, null, `${more} threads of the engine's four`)
    t.equal(status, more < 4 ? 1 : 0, stderr)
    if (more < 4) t.match(stderr, /no more threads can be started/)
  }
})

t.test('a worker can be terminated at any moment of loading and decoding', async (t) => {
  for (const ms of [40, 80, 120, 160, 200, 260, 340]) {
    const { code, signal, errors } = await exitOf(
      ['worker', 'construct', 'open', 'score-many', 'terminate'],
      { TERMINATE_AFTER_MS: String(ms) },
    )
    t.same({ code, signal }, { code: 0, signal: null }, `${ms} ms: ${errors}`)
  }
})

t.test('an exception while the engine works ends the process with its own code', async (t) => {
  const { code, signal, errors } = await exitOf([
    'construct',
    'open',
    'score-many',
    'wait',
    'throw',
  ])
  t.same({ code, signal }, { code: 1, signal: null })
  t.match(errors, 'thrown on purpose')
})

t.test('close() is idempotent and returns the same promise', (t) =>
  withEngine('small', {}, async (engine) => {
    t.equal(engine.close(), engine.close())
  }),
)

t.test('every call after close() is refused', (t) =>
  withEngine('small', {}, async (engine) => {
    await engine.close()
    const refused = { code: 'ERR_ENGINE_CLOSED' }
    await t.rejects(engine.score(input(3, 1)), refused)
    await t.rejects(engine.tokenize([{ text: 'a', trusted: false }]), refused)
    await t.rejects(engine.countTokens('a'), refused)
  }),
)

t.test('two engines live and end independently', async (t) => {
  const [a, b] = await Promise.all([
    openEngine({ modelPath: MODEL_PATH, threads: 1, contextTokens: 1024 }),
    openEngine({ modelPath: MODEL_PATH, threads: 1, contextTokens: 1024 }),
  ])
  const expected = await a.score(input(50, 2))
  await a.close()
  const actual = await b.score(input(50, 2))
  t.same(actual.logits, expected.logits)
  await b.close()
})

t.test('opening and closing again and again does not grow memory', async (t) => {
  const cycle = async () => {
    const engine = await openEngine({ modelPath: MODEL_PATH, threads: 1, contextTokens: 1024 })
    await engine.score(input(30, 2))
    await engine.close()
  }
  const thirty = async () => {
    const before = process.memoryUsage.rss()
    for (let i = 0; i < 30; i++) await cycle()
    return (process.memoryUsage.rss() - before) / 2 ** 20
  }
  // The allocator's arenas grow for some thirty cycles, whatever is done in them; how many depends
  // on which threads use them. A leak grows in every cycle.
  await thirty()
  const wrong = await bestOfThree(async () => {
    const grown = await thirty()
    return grown < 20 ? undefined : `${grown.toFixed(1)} MiB after 30 more cycles`
  })
  t.strictSame(wrong, [])
})
