/**
 * An engine in its own process, which is killed, stopped and made to abort. A request that ends it
 * again and again: runners.test.ts.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerEnd } from '../../src/runner/runner-process.js'
import { openIsolated } from '../../src/runner/isolate.js'
import type { SupervisedEngine } from '../../src/runner/supervised-engine.js'
import { candidates, fixturePath, user, withEngine } from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const input = (text: string) => ({
  prefix: [user(text)],
  suffixes: [{ parts: [user(' Is it so?')], candidates }],
})

interface Watched {
  readonly engine: SupervisedEngine
  readonly ends: RunnerEnd[]
  /** The current process. */
  pid(): number
}

async function withIsolated<T>(use: (watched: Watched) => Promise<T>): Promise<T> {
  const ends: RunnerEnd[] = []
  const engine = await openIsolated(
    { modelPath: await fixturePath('small'), contextTokens: 4096, threads: 1 },
    { events: { ended: (end) => ends.push(end) } },
  )
  try {
    return await use({ engine, ends, pid: () => engine.pid! })
  } finally {
    await engine.close()
  }
}

t.test('an isolated engine gives the same logits as one in this process', async (t) => {
  await withIsolated(async ({ engine }) => {
    await withEngine('small', { threads: 1 }, async (own) => {
      for (const text of ['A', 'é¤ 🙂 \u0000', 'word '.repeat(500)]) {
        const [isolated, here] = await Promise.all([
          engine.score(input(text)),
          own.score(input(text)),
        ])
        t.ok(isClose(isolated.logits, here.logits))
        t.equal(isolated.prefixTokens, here.prefixTokens)
        const texts = [user(text), user('')]
        t.strictSame(await engine.tokenize(texts), await own.tokenize(texts))
        t.equal(await engine.countTokens(text), await own.countTokens(text))
      }
    })
  })
})

t.test('an error of the engine has its code and its text', async (t) => {
  await withIsolated(async ({ engine }) => {
    await t.rejects(engine.score(input('word '.repeat(9000))), {
      code: 'ERR_STATE_TOO_LONG',
      message: /4096/,
    })
    const signal = AbortSignal.abort()
    await t.rejects(engine.score(input('A'), { signal }), { code: 'ERR_ABORTED' })
  })
})

for (const signal of ['SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGSTOP'] as const) {
  t.test(`requests inside at ${signal} are asked again and answered`, async (t) => {
    await withIsolated(async ({ engine, ends, pid }) => {
      const expected = (await engine.score(input('the same'))).logits
      const first = pid()
      const asked = Array.from({ length: 16 }, () => engine.score(input('the same')))
      const long = engine.score(input('word '.repeat(3000)))
      process.kill(first, signal)
      for (const { logits } of await Promise.all(asked)) t.ok(isClose(logits, expected))
      await long
      t.equal(ends.length, 1)
      t.equal(ends[0]!.cause, signal === 'SIGSTOP' ? 'stopped' : signal)
      t.not(pid(), first)
      t.ok(engine.counts().askedAgain >= 1)
      t.equal(engine.counts().gaveUp, 0)
    })
  })
}

/** Other rows in a step move a logit a little. */
function isClose(logits: Float32Array, expected: Float32Array): boolean {
  return logits.every((logit, i) => Math.abs(logit - expected[i]!) < 1e-3)
}

t.test('a new request waits for an engine that will be ready soon', async (t) => {
  await withIsolated(async ({ engine, pid }) => {
    process.kill(pid(), 'SIGKILL')
    await until(() => !engine.ready)
    t.ok(await engine.score(input('A')))
  })
})

t.test('while no engine can be opened, requests are refused with a time to wait', async (t) => {
  const dir = t.testdir()
  const modelPath = join(dir, 'model.gguf')
  copyFileSync(await fixturePath('small'), modelPath)
  const engine = await openIsolated({ modelPath, threads: 1 })
  t.teardown(() => engine.close())
  rmSync(modelPath)
  process.kill(engine.pid!, 'SIGKILL')
  await until(() => !engine.ready)
  await t.rejects(engine.score(input('A')), { code: 'ERR_OVERLOADED', retryAfterMs: Number })
  copyFileSync(await fixturePath('small'), modelPath)
  await until(() => engine.ready)
  t.ok(await engine.score(input('A')))
})

t.test('close() waits for accepted work and leaves no process', async (t) => {
  await withIsolated(async ({ engine, pid }) => {
    const id = pid()
    const asked = engine.score(input('word '.repeat(2000)))
    await engine.close()
    t.ok(await asked)
    await sleep(50)
    t.throws(() => process.kill(id, 0), { code: 'ESRCH' })
    await t.rejects(engine.score(input('A')), { code: 'ERR_ENGINE_CLOSED' })
  })
})

t.test('a process that ends during close() is reported, with its requests', async (t) => {
  await withIsolated(async ({ engine, ends, pid }) => {
    const asked = engine.score(input('word '.repeat(2000)))
    const closed = engine.close()
    process.kill(pid(), 'SIGKILL')
    await t.rejects(asked, { code: 'ERR_ENGINE_CLOSED' })
    await closed
    t.match(ends, [{ cause: 'SIGKILL' }])
  })
})

t.test('a model that cannot be opened says why', async (t) => {
  const modelPath = `${t.testdir({ 'model.gguf': 'not a model' })}/model.gguf`
  await t.rejects(openIsolated({ modelPath }), { code: 'ERR_MODEL_LOAD' })
})

t.test('a file with another model is not opened in place of the first one', async (t) => {
  const modelPath = join(t.testdir(), 'model.gguf')
  copyFileSync(await fixturePath('small'), modelPath)
  const failures: string[] = []
  const events = { failed: (error: unknown) => failures.push((error as Error).message) }
  const engine = await openIsolated({ modelPath, threads: 1 }, { events })
  t.teardown(() => engine.close())
  const { contextTokens } = engine.info
  const other = await fixturePath('small', { template: 'always-thinks' })
  // Not overwritten: the first model is mapped from it.
  rmSync(modelPath)
  copyFileSync(other, modelPath)
  process.kill(engine.pid!, 'SIGKILL')
  await until(() => failures.length > 0)
  t.match(failures[0], /another model than before/)
  t.notOk(engine.ready)
  rmSync(modelPath)
  copyFileSync(await fixturePath('small'), modelPath)
  await until(() => engine.ready)
  t.ok(await engine.score(input('A')))
  t.equal(engine.info.contextTokens, contextTokens)
})
