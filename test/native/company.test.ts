/**
 * Where our own kernels compute everything, a request has the same bits in any company: cold, from
 * each tier of the cache, among others, in other batches, on another number of threads. Encoders, too.
 *
 * Needs the built addon and fixtures. test/native/promises.test.ts has the same of other models
 * within a bound; `oi-stress … same-bits` compares as many answers as it is told to.
 */
import t from 'tap'
import { join } from 'node:path'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { Engine } from '../../src/engine/types.js'
import {
  fixturePath,
  type FixtureName,
  openEngine,
  question,
  text,
  unique,
  user,
  withEngine,
} from '../helpers/fixture.js'
import { mixedRequest, renderedBy, withModelFile } from '../helpers/hidden.js'
import { pool, sameAnswer, startLoad } from '../helpers/load.js'

const same = sameAnswer(true)
const requests = [
  ...pool(),
  unique('new', 250, 5),
  { prefix: [user(text(180))], suffixes: [3, 8, 1, 6].map(question) },
]
/** Of an engine that is asked one request after another. */
const alone: Omit<EngineOptions, 'modelPath'> = {
  contextTokens: 2048,
  microbatchTokens: 512,
  maxForks: 16,
  threads: 1,
  maxBacklogMs: 2 ** 31,
}

/** An embedding model needs a text for yes and for no. */
function about(words: number) {
  const { state, questions } = mixedRequest(words)
  const { urgent: _, ...others } = questions
  return { state, questions: others }
}

const answerAll = (engine: Engine) =>
  Promise.all(requests.map(async (request) => (await engine.score(request)).logits))

const models: readonly (readonly [FixtureName, string])[] = [
  ['dense-qwen', 'Q8_0'],
  ['dense-qwen', 'Q4_K_M'],
  ['dense-qwen', 'BF16'],
  ['dense-qwen', 'F16'],
  ['dense-qwen', 'F32'],
  ['window', 'Q8_0'],
  ['experts', 'Q8_0'],
  ['oss', 'Q8_0'],
  ['lfm2', 'Q8_0'],
]
/** Without cells; the last reads a state's from RAM. */
const encoders: typeof models = [
  ['reranker', 'Q8_0'],
  ['reranker', 'F32'],
  ['modern-reranker', 'F32'],
  ['embedding', 'F32'],
  ['prefix', 'Q8_0'],
]
const { kernels } = await withEngine('small', {}, async ({ info }) => info)
const skip = kernels === '' || kernels.startsWith('AMX') ? 'no such kernels on this CPU' : false

for (const [name, type] of models) {
  t.test(`${name} ${type}`, { skip }, async (t) => {
    const modelPath = await fixturePath(name, { type })
    const open = async <T>(options: typeof alone, use: (engine: Engine) => Promise<T>) => {
      const engine = await openEngine({ modelPath, ...options })
      try {
        return await use(engine)
      } finally {
        await engine.close()
      }
    }
    const cold = await open(alone, async (engine) => {
      t.match(engine.info.kernels, /, the same bits in any company$/)
      const answers: Float32Array[] = []
      for (const request of requests) answers.push((await engine.score(request)).logits)
      return answers
    })
    const expectSame = (answers: readonly Float32Array[], how: string) =>
      t.strictSame(
        answers.flatMap((answer, i) => (same(answer, cold[i]!) ? [] : [i])),
        [],
        how,
      )
    const crowded = {
      ...alone,
      // So few cells that states come and go, and lie where there is room.
      ...{ contextTokens: 640, microbatchTokens: 64, maxForks: 4, threads: 2 },
      diskCacheDir: join(t.testdir({}), 'states'),
    }
    const hits = { device: 0, host: 0 }
    for (const deterministic of [false, true]) {
      await open({ ...crowded, deterministic }, async (engine) => {
        const load = await startLoad(engine, { seed: 4, width: 8, same })
        for (let round = 0; round < 4; round++) {
          expectSame(await answerAll(engine), `among others, round ${round}`)
        }
        t.same((await load.stop()).wrong, [], 'the others have their own bits, too')
        const stats = engine.stats()
        hits.device += stats.deviceHits
        hits.host += stats.hostHits
      })
    }
    t.ok(hits.device > 0 && hits.host > 0, `${hits.device} from cells, ${hits.host} from RAM`)
    await open(crowded, async (engine) => {
      expectSame(await answerAll(engine), 'of another process, from its disk')
      t.ok(engine.stats().diskHits > 0)
    })
  })
}

for (const [name, type] of encoders) {
  t.test(`${name} ${type}`, { skip }, async (t) => {
    const modelPath = await fixturePath(name, { type })
    const answers = (options: typeof alone, together: boolean) =>
      withModelFile(modelPath, options, async (engine) => {
        t.match(engine.info.kernels, /, the same bits in any company/)
        const inputs = await Promise.all(
          [3, 90, 17, 160, 40, 9, 65].map((words) => renderedBy(engine, about(words))),
        )
        const logits: Float32Array[] = []
        const ask = async (input: (typeof inputs)[0], i: number) =>
          (logits[i] = (await engine.score(input)).logits)
        // Again, where states are kept.
        for (let round = 0; round < 2; round++) {
          if (together) await Promise.all(inputs.map(ask))
          else for (const [i, input] of inputs.entries()) await ask(input, i)
        }
        return logits
      })
    const cold = await answers(alone, false)
    for (const microbatchTokens of [256, 512, 2048]) {
      for (const threads of [1, 2]) {
        const other = await answers({ ...alone, microbatchTokens, threads }, true)
        const differ = other.flatMap((logits, i) => (same(logits, cold[i]!) ? [] : [i]))
        t.strictSame(differ, [], `together, steps of ${microbatchTokens}, ${threads} threads`)
      }
    }
  })
}
