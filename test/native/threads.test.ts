/**
 * Threads that compute together: `oi-threads-test`, which is built first, tests each part alone and
 * prints its checks. Then engines, whose answers may not depend on threads.
 */
import t from 'tap'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { type EngineOptions } from '../../src/engine/engine.js'
import type { Engine } from '../../src/engine/types.js'
import { fixturePath, input, openEngine } from '../helpers/fixture.js'

const tool = join(await buildNative(new Set(), ['oi-threads-test']), 'oi-threads-test')

t.test('the barrier, the number of threads and the shares of the cores', async (t) => {
  t.spawn(tool, [], { timeout: 60_000 })
})

for (const [name, type] of [
  ['dense', undefined],
  ['small', 'Q8_0'],
  ['hybrid', undefined],
] as const) {
  t.test(`deterministic answers of ${name} are the same on 1, 2 and 3 threads`, async (t) => {
    const modelPath = await fixturePath(name, type && { type })
    const answers: Float32Array[] = []
    for (const threads of [1, 2, 3]) {
      const engine = await openEngine({ ...small, modelPath, threads, deterministic: true })
      answers.push((await engine.score(input(700, 5))).logits)
      await engine.close()
    }
    t.strictSame(answers[1], answers[0])
    t.strictSame(answers[2], answers[0])
  })
}

t.test('more threads than cores, beside others, are not much slower than one', async (t) => {
  const modelPath = await fixturePath('small')
  const [one, many] = [
    await openEngine({ ...small, modelPath, threads: 1 }),
    await openEngine({ ...small, modelPath, threads: 4 }),
  ]
  const spinning = Array.from({ length: 4 }, spin)
  try {
    await rate(one)
    await rate(many)
    // With a spinning barrier it was always a tenth and less. Other programs also take time, so one
    // good round suffices.
    const rates: { one: number; many: number }[] = []
    let best = 0
    for (let round = 0; round < 12 && best <= 0.5; round++) {
      const last = { one: await rate(one), many: await rate(many) }
      rates.push(last)
      best = Math.max(best, last.many / last.one)
    }
    t.ok(best > 0.5, JSON.stringify(rates))
  } finally {
    for (const child of spinning) child.kill('SIGKILL')
    await one.close()
    await many.close()
  }
})

t.test('two engines in one process are together as fast as one, and neither starves', async (t) => {
  const modelPath = await fixturePath('small')
  const [first, second] = [
    await openEngine({ ...small, modelPath }),
    await openEngine({ ...small, modelPath }),
  ]
  const rounds: { alone: number; together: number[] }[] = []
  for (let round = 0; round < 4; round++) {
    const alone = await rate(first)
    rounds.push({ alone, together: await Promise.all([rate(first), rate(second)]) })
  }
  await first.close()
  await second.close()
  const best = Math.max(...rounds.map(({ alone, together: [a, b] }) => (a! + b!) / alone))
  t.ok(best > 0.8, JSON.stringify(rounds))
  t.ok(
    rounds.some(({ together: [a, b] }) => Math.min(a!, b!) > 0.25 * Math.max(a!, b!)),
    JSON.stringify(rounds),
  )
})

const small: Partial<EngineOptions> = { contextTokens: 4096, hostCacheBytes: 0 }

/** Requests per second of .4 s. */
async function rate(engine: Engine): Promise<number> {
  const start = performance.now()
  let answered = 0
  for (; performance.now() < start + 400; answered++) {
    await engine.score(input(100 + (seen++ % 50), 2))
  }
  return (answered / (performance.now() - start)) * 1000
}
let seen = 0

/** Ends by itself, in case the test does not end it. */
function spin(): ChildProcess {
  const loop = 'const end = Date.now() + 30_000; while (Date.now() < end);'
  return spawn(process.execPath, ['-e', loop], { stdio: 'ignore' })
}
