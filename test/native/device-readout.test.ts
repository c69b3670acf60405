/**
 * Values read from logits on a device equal those of whole rows, and only they are copied to the
 * host.
 *
 * Needs the built addon and the fixtures. Runs on any device, here on the CPU: the graphs are the
 * same, and `npm run test:device` runs them on another. Tolerance of the log-sum-exp: 1e-5 nats.
 */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { Engine, ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import {
  candidates,
  type FixtureName,
  fixturePath,
  input,
  question,
  text,
  user,
  whileOpen,
} from '../helpers/fixture.js'
import { poisoned, poisonedWord } from '../helpers/poisoned.js'

const options = { contextTokens: 1024, maxForks: 8, threads: 1, maxBacklogMs: 2 ** 31 }
const dir = t.testdir({})
/** A result on the device: its capacity of candidates, and three figures. */
const width = 4 * (16 + 3)

async function withReadout<T>(
  where: 'device' | 'host',
  modelPath: string,
  use: (engine: Engine) => Promise<T>,
  more: Partial<EngineOptions> = {},
): Promise<T> {
  process.env['OI_TEST_READOUT'] = where
  return whileOpen({ ...options, ...more, modelPath }, (engine) => {
    delete process.env['OI_TEST_READOUT']
    return use(engine)
  })
}

/** Questions with `count` candidates. */
const wide = (words: number, questions: number, count: number): ScoreInput => {
  const { prefix, suffixes } = input(words, questions)
  const ids = Int32Array.from({ length: count }, (_, i) => 40 + 7 * i)
  return { prefix, suffixes: suffixes.map((suffix) => ({ ...suffix, candidates: ids })) }
}

/** Equal logits of the same candidates, bit by bit, and equal ranks; log-sum-exps within 1e-5. */
function same(t: Test, request: ScoreInput, device: ScoreOutput, host: ScoreOutput): void {
  t.same(device.ranks, host.ranks)
  let at = 0
  for (const { candidates } of request.suffixes) {
    const end = at + candidates.length
    t.same(device.logits.slice(at, end), host.logits.slice(at, end))
    const apart = Math.abs(device.logits[end]! - host.logits[end]!)
    t.ok(apart < 1e-5, `log-sum-exps ${apart} apart`)
    at = end + 1
  }
}

const small = { batchTokens: 128, microbatchTokens: 64 }
for (const [name, sizes] of [
  ['small', small],
  ['dense-qwen', {}],
  ['hybrid', small],
  ['oss', {}],
] as const satisfies [FixtureName, Partial<EngineOptions>][]) {
  t.test(`${name}: candidates, ranks and log-sum-exps equal those of whole rows`, async (t) => {
    const path = await fixturePath(name)
    const requests = [
      input(20, 1),
      input(20, 1),
      input(150, 7), // several rows a step
      input(60, 21), // more than forks
      wide(30, 3, 2),
      wide(30, 3, 70), // more candidates than a result has room for
      wide(30, 3, 2),
      input(3, 5),
    ]
    const all = async (engine: Engine) => {
      const results: ScoreOutput[] = []
      for (const request of requests) results.push(await engine.score(request))
      return results
    }
    const host = await withReadout('host', path, all, sizes)
    const device = await withReadout('device', path, all, sizes)
    requests.forEach((request, i) => same(t, request, device[i]!, host[i]!))
  })
}

t.test('a step copies its candidates only, whatever the vocabulary', async (t) => {
  for (const name of ['small', 'dense-qwen'] as const) {
    await withReadout('device', await fixturePath(name), async (engine) => {
      const { readoutBytes: before } = engine.stats()
      await engine.score(input(30, 6))
      t.equal(engine.stats().readoutBytes - before, 6 * width, name)
      await engine.score({ ...input(30, 1), suffixes: [question(1), question(2)] })
      t.equal(engine.stats().readoutBytes - before, 8 * width, name)
    })
  }
})

t.test('the same questions again reuse the graph', async (t) => {
  await withReadout('device', await fixturePath('small'), async (engine) => {
    for (let round = 0; round < 2; round++) await engine.score(input(30, 4))
    const { graphsReused, steps } = engine.stats()
    for (let round = 0; round < 5; round++) await engine.score(input(30, 4))
    t.equal(engine.stats().steps - steps, 5)
    t.equal(engine.stats().graphsReused - graphsReused, 5)
  })
})

t.test('on the CPU nothing is copied', async (t) => {
  await withReadout(
    'host',
    await fixturePath('small'),
    async (engine) => {
      await engine.score(input(30, 6))
      t.equal(engine.stats().readoutBytes, 0)
    },
    { device: 'cpu' },
  )
})

t.test('a damaged row of the output head that is not a label counts as zero', async (t) => {
  const path = await poisoned(
    await fixturePath('oss'),
    join(dir, 'head.gguf'),
    'output.weight',
    candidates.at(-1)! + 5,
  )
  const request = input(40, 3)
  const host = await withReadout('host', path, (engine) => engine.score(request))
  const device = await withReadout('device', path, (engine) => engine.score(request))
  same(t, request, device, host)
})

t.test('a request that is not finite fails alone, and rows stay on the device', async (t) => {
  const path = join(dir, 'token.gguf')
  await poisonedWord(await fixturePath('oss'), path, ' zebra')
  await withReadout('device', path, async (engine) => {
    const before = await engine.score(input(40, 3))
    const spoilt = { ...input(1, 2), prefix: [user(text(20)), user(' zebra')] }
    await t.rejects(engine.score(spoilt), { message: /not finite/ })
    const { readoutBytes } = engine.stats()
    same(t, input(40, 3), await engine.score(input(40, 3)), before)
    t.equal(engine.stats().readoutBytes - readoutBytes, 3 * width)
  })
})
