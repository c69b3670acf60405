/**
 * A GPU's plan, on the CPU: steps of few shapes, whose cells lie low.
 *
 * Needs the built addon and the fixtures. `npm run test:device` runs the other native tests with
 * that plan, on a device.
 */
import t from 'tap'
import { join } from 'node:path'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { Engine, ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import { fixturePath, type FixtureName, input, text, user, whileOpen } from '../helpers/fixture.js'
import { sameAnswer, startLoad } from '../helpers/load.js'
import { poisonedWord } from '../helpers/poisoned.js'

const options = { contextTokens: 16_384, threads: 1, maxBacklogMs: 2 ** 31 }
const same = sameAnswer(true)

async function withPlan<T>(
  plan: 'gpu' | undefined,
  name: FixtureName,
  use: (engine: Engine) => Promise<T>,
  more: Partial<EngineOptions> = {},
): Promise<T> {
  const modelPath = more.modelPath ?? (await fixturePath(name))
  if (plan !== undefined) process.env['OI_TEST_PLAN'] = plan
  return whileOpen({ ...options, ...more, modelPath }, (engine) => {
    delete process.env['OI_TEST_PLAN']
    return use(engine)
  })
}

/** Different states, some of which fill a step. */
const requests = [20, 2300, 70, 20, 400, 5].map((words, i): ScoreInput => {
  const { prefix, suffixes } = input(words, 1 + (i % 4))
  return { prefix: [{ text: `${i}: `, trusted: false }, ...prefix], suffixes }
})

for (const name of ['dense', 'window', 'experts'] as const) {
  t.test(`${name}: what fills a step up changes no bit of an answer`, async (t) => {
    const ask = (engine: Engine): Promise<ScoreOutput[]> =>
      Promise.all(requests.map((request) => engine.score(request)))
    const own = await withPlan(undefined, name, ask)
    const filled = await withPlan('gpu', name, async (engine) => {
      t.ok(engine.info.sameBits)
      const filled = await ask(engine)
      t.ok(engine.stats().paddingTokens > 0)
      return filled
    })
    own.forEach(({ logits }, i) => t.ok(same(filled[i]!.logits, logits), `request ${i}`))
  })
}

t.test('steps that differ a little use the graph of the step before', (t) =>
  withPlan('gpu', 'small', async (engine) => {
    const ask = (words: number) => engine.score(input(words, 1 + (words % 3)))
    for (let i = 0; i < 16; i++) await ask(30 + i)
    const before = engine.stats()
    for (let i = 0; i < 20; i++) await ask(50 + i)
    const { steps, graphsReused } = engine.stats()
    t.equal(steps - before.steps, 20)
    t.ok(graphsReused - before.graphsReused >= 18, `${graphsReused - before.graphsReused}`)
  }),
)

/** About states of 200 words, as many as given, at once. @returns What attention read a token. */
async function cellsRead(engine: Engine, names: readonly number[]) {
  const before = engine.stats()
  await Promise.all(names.map((name) => engine.score(named(name))))
  const after = engine.stats()
  const tokens = after.evaluatedTokens - before.evaluatedTokens
  return { tokens, cells: (after.readPairs - before.readPairs) / tokens }
}

function named(name: number | string, words = 200): ScoreInput {
  const { prefix, suffixes } = input(words, 2)
  return { prefix: [{ text: `State ${name}. `, trusted: false }, ...prefix], suffixes }
}

const from = (first: number) => Array.from({ length: 48 }, (_, i) => first + i)

t.test('beside full steps, attention reads few cells that nobody in them sees', (t) =>
  withPlan('gpu', 'small', async (engine) => {
    await cellsRead(engine, from(0))
    const { tokens, cells } = await cellsRead(engine, from(100))
    t.ok(tokens > 8192, `${tokens} tokens, more than twice what a step reads`)
    t.ok(cells < 4096, `${cells} cells`)
  }),
)

t.test('what all requests share does not stay in high cells', (t) =>
  withPlan('gpu', 'small', async (engine) => {
    // A state that comes back from RAM brings a beginning of its own, behind all idle cells.
    for (let i = 0; i < 220; i++) {
      await engine.score(named(1000 + i))
      if (i < 2 || (i >= 100 && i % 5 === 0)) await engine.score(named('A'))
    }
    t.ok(engine.stats().hostHits > 0)
    await cellsRead(engine, from(5000))
    const { cells } = await cellsRead(engine, from(6000))
    t.ok(cells < 4096, `${cells} cells`)
  }),
)

t.test('a state of which others share the beginning leaves in its turn', (t) =>
  withPlan('gpu', 'small', async (engine) => {
    for (let i = 0; i < 80; i++) await engine.score(named(i))
    const { cachedTokens, prefixTokens } = await engine.score(named(0))
    t.ok(cachedTokens < prefixTokens / 2, `${cachedTokens} of ${prefixTokens}`)
  }),
)

t.test('steps that are aborted leave no cell behind', (t) =>
  withPlan('gpu', 'dense', async (engine) => {
    const load = await startLoad(engine, { seed: 1, width: 8, same })
    for (let i = 0; i < 60; i++) {
      const controller = new AbortController()
      const asked = engine.score(requests[i % 2]!, { signal: controller.signal }).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, i % 7))
      controller.abort()
      await asked
    }
    const { wrong, answered } = await load.stop()
    t.same(wrong, [])
    t.ok(answered > 0)
  }),
)

/** Steps so short that a few requests fill them: the next one is submitted ahead. */
const short = { microbatchTokens: 128, batchTokens: 128 }

for (const name of ['dense', 'window'] as const) {
  t.test(`${name}: a full step is submitted ahead, and each answer is its own`, async (t) => {
    const states = from(0).map((name) => named(name))
    const alone = await withPlan(undefined, name, async (engine) => {
      const answers: ScoreOutput[] = []
      for (const state of states) answers.push(await engine.score(state))
      return answers
    })
    await withPlan(
      'gpu',
      name,
      async (engine) => {
        const answers = await Promise.all(states.map((state) => engine.score(state)))
        const { steps, stepsAhead, evaluatedTokens, paddingTokens } = engine.stats()
        t.ok(stepsAhead > steps / 2, `${stepsAhead} of ${steps} steps`)
        answers.forEach(({ logits }, i) => t.ok(same(logits, alone[i]!.logits), `state ${i}`))
        const counted = answers.reduce((sum, answer) => sum + answer.evaluatedTokens, 0)
        t.equal(evaluatedTokens - paddingTokens, counted)
      },
      short,
    )
  })
}

t.test('a step that another request would fit into is not submitted ahead', (t) =>
  withPlan('gpu', 'small', async (engine) => {
    for (let i = 0; i < 8; i++) await Promise.all([engine.score(named(i)), engine.score(named(-i))])
    t.equal(engine.stats().stepsAhead, 0)
  }),
)

for (const name of ['small', 'window'] as const) {
  t.test(`${name}: with steps ahead, what is cancelled spoils no other answer`, (t) =>
    withPlan(
      'gpu',
      name,
      async (engine) => {
        const load = await startLoad(engine, { seed: 3, width: 24, same })
        for (let i = 0; i < 40; i++) {
          const controller = new AbortController()
          const asked = engine.score(requests[1]!, { signal: controller.signal }).catch(() => {})
          await new Promise((resolve) => setTimeout(resolve, i % 9))
          controller.abort()
          await asked
        }
        const { wrong, answered } = await load.stop()
        t.same(wrong, [])
        t.ok(answered > 0)
        t.ok(engine.stats().stepsAhead > 0)
        await engine.score(named('last'))
        const { deviceCellsUsed, deviceCellsIdle } = engine.stats()
        t.equal(deviceCellsUsed, deviceCellsIdle, 'nobody holds a cell any more')
      },
      { ...short, contextTokens: 4096 },
    ),
  )
}

t.test('numbers that are not finite spoil no answer of the step behind', async (t) => {
  const word = ' zebra'
  const path = join(t.testdir({}), 'spoilt.gguf')
  const modelPath = await poisonedWord(await fixturePath('dense'), path, word)
  // Several in each step, so that the one behind has answers, too.
  const states = from(0).map((name) => named(name, 9))
  const alone = await withPlan(
    undefined,
    'dense',
    async (engine) => {
      const answers: ScoreOutput[] = []
      for (const state of states) answers.push(await engine.score(state))
      return answers
    },
    { modelPath },
  )
  await withPlan(
    'gpu',
    'dense',
    async (engine) => {
      let counted = 0
      const outcomes = await Promise.all(
        states.map(async (state, i) => {
          const mixed =
            i % 12 === 5
              ? { ...state, prefix: [user(`${i}: `), user(word), user(` ${text(5)}`)] }
              : state
          const answer = await engine.score(mixed).catch(() => undefined)
          if (answer === undefined) return 'failed'
          counted += answer.evaluatedTokens
          return same(answer.logits, alone[i]!.logits) ? 'right' : 'wrong'
        }),
      )
      t.same(
        outcomes,
        states.map((_, i) => (i % 12 === 5 ? 'failed' : 'right')),
      )
      const { stepsAhead, evaluatedTokens, paddingTokens, lostTokens } = engine.stats()
      t.ok(stepsAhead > 0)
      t.equal(evaluatedTokens - paddingTokens - lostTokens, counted, 'all else was lost')
    },
    { ...short, modelPath },
  )
})
