/**
 * What the engine refuses, cancels and bounds; and that it lives on afterwards.
 *
 * Needs the built addon and the fixtures.
 */
import t from 'tap'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  candidates,
  endless,
  endlessContext,
  fixturePath,
  input,
  openEngine,
  outcomeOf,
  question,
  user,
  withEngine,
} from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const small = await fixturePath('small')

t.test('a file that cannot be a model is refused with its reason', async (t) => {
  const model = readFileSync(small)
  const dir = t.testdir({ 'text.gguf': 'not a model', 'empty.gguf': '' })
  const file = (name: string, bytes: Buffer) => {
    writeFileSync(join(dir, name), bytes)
    return join(dir, name)
  }
  const otherArchitecture = Buffer.from(model)
  // general.architecture is a length-prefixed string: same length, another name.
  const at = otherArchitecture.indexOf('qwen3', otherArchitecture.indexOf('general.architecture'))
  otherArchitecture.write('zzzz9', at)
  const otherVersion = Buffer.from(model)
  otherVersion.writeUInt32LE(99, 4)

  for (const [what, path, code, message] of [
    ['a missing file', join(dir, 'absent.gguf'), 'ERR_MODEL_NOT_FOUND', 'absent.gguf'],
    ['a folder', dir, 'ERR_MODEL_LOAD', 'not a GGUF'],
    ['a text file', join(dir, 'text.gguf'), 'ERR_MODEL_LOAD', 'not a GGUF'],
    ['an empty file', join(dir, 'empty.gguf'), 'ERR_MODEL_LOAD', 'not a GGUF'],
    ['the magic alone', file('magic.gguf', model.subarray(0, 4)), 'ERR_MODEL_LOAD', 'magic.gguf'],
    ['a cut header', file('header.gguf', model.subarray(0, 3000)), 'ERR_MODEL_LOAD', 'header.gguf'],
    [
      'cut weights',
      file('cut.gguf', model.subarray(0, model.length - 100_000)),
      'ERR_MODEL_LOAD',
      'cut.gguf',
    ],
    ['another version', file('version.gguf', otherVersion), 'ERR_MODEL_LOAD', 'version.gguf'],
    [
      'an unknown architecture',
      file('arch.gguf', otherArchitecture),
      'ERR_MODEL_UNSUPPORTED',
      'zzzz9',
    ],
  ] as const) {
    const error = (await openEngine({ modelPath: path }).catch((e: unknown) => e)) as Error & {
      code: string
    }
    t.ok(error instanceof Error && error.code.startsWith(code), `${what}: ${error.code}`)
    t.match(error.message, message, `${what}: ${error.message}`)
  }
})

t.test('a context too large for the memory is refused with both figures', (t) =>
  t.rejects(openEngine({ modelPath: small, contextTokens: 2 ** 30 }), {
    code: 'ERR_MODEL_MEMORY',
    message: /needs \d+\.\d GiB, \d+\.\d GiB are available/,
  }),
)

t.test('options out of range are refused by name', async (t) => {
  for (const [name, value] of [
    ['contextTokens', 10],
    ['maxForks', 248],
    ['split', 'tensor'],
    ['tensorSplit', [0, 0]],
    ['threads', 1.5],
    ['batchTokens', -1],
    ['maxQueued', 0],
    ['cacheType', 'q4_0'],
    ['flashAttention', 'yes'],
    ['kernels', 'on'],
  ] as const) {
    await t.rejects(openEngine({ modelPath: small, [name]: value }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: new RegExp(`^${name}: `),
    })
  }
})

t.test('loading reports its progress, up to all of it', async (t) => {
  const seen: number[] = []
  await withEngine('dense', { onProgress: (fraction) => seen.push(fraction) }, async () => {})
  t.ok(seen.length > 1)
  t.same(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  t.equal(seen.at(-1), 1)
})

t.test('an engine opened for its metadata tokenizes and does not score', (t) =>
  withEngine('small', { metadataOnly: true }, async (engine) => {
    t.equal(engine.info.architecture, 'qwen3')
    t.ok(engine.info.contextBytes > 0)
    t.ok((await engine.countTokens('some words')) > 0)
    await t.rejects(engine.score(input(3, 1)), { code: 'ERR_ENGINE_NOT_OPEN' })
  }),
)

t.test('a request that fills the context to its last cell is answered', (t) =>
  withEngine('small', { contextTokens: 512 }, async (engine) => {
    const one = question(0)
    const suffix = (await engine.tokenize(one.parts)).reduce((sum, ids) => sum + ids.length, 0)
    // " a" is one token in this vocabulary.
    const fill = (tokens: number) => ({
      prefix: [user(' a'.repeat(tokens))],
      suffixes: [one, one, one],
    })
    const full = await engine.score(fill(512 - suffix))
    t.equal(full.prefixTokens, 512 - suffix)
    t.ok(full.logits.every(Number.isFinite))
    await t.rejects(engine.score(fill(513 - suffix)), { code: 'ERR_STATE_TOO_LONG' })
  }),
)

// A short last microbatch is filled up: beyond the batch, llama.cpp would abort.
t.test('batches of any size, also no multiple of the microbatch, are answered', async (t) => {
  // Every state has its own beginning, so that no part of it is cached.
  const words = (count: number) => ({
    prefix: [user(`${count}:${' a'.repeat(count)}`)],
    suffixes: [question(0)],
  })
  await withEngine('small', { batchTokens: 150, microbatchTokens: 100 }, async (engine) => {
    for (let count = 80; count < 180; count += 3) {
      t.ok((await engine.score(words(count))).logits.every(Number.isFinite))
    }
  })
})

t.test('candidates outside the vocabulary and questions without tokens are refused', (t) =>
  withEngine('small', {}, async (engine) => {
    const refused = { code: 'ERR_INVALID_ARGUMENT' }
    for (const id of [-1, engine.info.vocabularySize, 2 ** 31 - 1]) {
      const suffix = { ...question(0), candidates: Int32Array.of(1, id) }
      await t.rejects(engine.score({ prefix: [user('a')], suffixes: [suffix] }), refused)
    }
    await t.rejects(
      engine.score({ prefix: [user('a')], suffixes: [{ parts: [], candidates }] }),
      refused,
    )
    t.ok((await engine.score(input(3, 1))).logits.length > 0)
  }),
)

t.test('an empty prefix is allowed', (t) =>
  withEngine('small', {}, async (engine) => {
    const { logits, prefixTokens } = await engine.score({ prefix: [], suffixes: [question(0)] })
    t.equal(prefixTokens, 0)
    t.ok(logits.every(Number.isFinite))
  }),
)

t.test('the log-sum-exp covers the whole vocabulary', (t) =>
  withEngine('small', {}, async (engine) => {
    const all = Int32Array.from({ length: engine.info.vocabularySize }, (_, i) => i)
    const { logits } = await engine.score({
      prefix: [user('x')],
      suffixes: [{ ...question(0), candidates: all }],
    })
    const values = logits.subarray(0, -1)
    const max = values.reduce((a, b) => Math.max(a, b))
    const expected = max + Math.log(values.reduce((sum, v) => sum + Math.exp(v - max), 0))
    t.ok(Math.abs(logits.at(-1)! - expected) < 2e-5, `${logits.at(-1)} and ${expected}`)
  }),
)

t.test('cancelling ends a running, a queued and a finished request correctly', (t) =>
  withEngine(
    'dense',
    { threads: 1, contextTokens: endlessContext, maxBacklogMs: 2 ** 31 },
    async (engine) => {
      const finished = new AbortController()
      const [running, queued] = [new AbortController(), new AbortController()]
      const expected = (await engine.score(input(30, 2), { signal: finished.signal })).logits
      finished.abort()
      const first = outcomeOf(engine.score(endless(1, 2), { signal: running.signal }))
      const second = outcomeOf(engine.score(endless(2, 2), { signal: queued.signal }))
      const { steps, evaluatedTokens } = engine.stats()
      await until(() => engine.stats().steps > steps)
      queued.abort()
      t.equal(await second, 'ERR_ABORTED')
      running.abort()
      t.equal(await first, 'ERR_ABORTED')
      t.match(engine.stats(), { answered: 1, cancelled: 2, queuedRequests: 0 })
      const evaluated = engine.stats().evaluatedTokens - evaluatedTokens
      t.ok(evaluated < 60_000, `without waiting for the decode: ${evaluated} tokens of 120000`)
      await t.rejects(engine.score(input(3, 1), { signal: AbortSignal.abort() }), {
        code: 'ERR_ABORTED',
      })
      const again = await engine.score(input(30, 2), { signal: new AbortController().signal })
      t.ok(again.logits.every((v, i) => Math.abs(v - expected[i]!) < 1e-3))
    },
  ),
)

t.test('ranks count the tokens that are likelier than the likeliest candidate', (t) =>
  withEngine('small', {}, async (engine) => {
    const parts = [user(' Is it so?')]
    const all = Int32Array.from({ length: engine.info.vocabularySize }, (_, id) => id)
    const { logits, ranks } = await engine.score({
      prefix: [user('The river ran.')],
      suffixes: [
        { parts, candidates: all },
        { parts, candidates },
        { parts, candidates: new Int32Array(0) },
        { parts, candidates: Int32Array.of(candidates[0]!) },
      ],
    })
    const vocabulary = logits.slice(0, all.length)
    const rankOf = (ids: Int32Array) => {
      const likeliest = Math.max(...Array.from(ids, (id) => vocabulary[id]!))
      return vocabulary.filter((logit) => logit > likeliest).length
    }
    // Other rows in the same step change only the last bits.
    t.equal(ranks.length, 3)
    t.equal(ranks[0], 0)
    t.ok(Math.abs(ranks[1]! - rankOf(candidates)) <= 2)
    t.ok(Math.abs(ranks[2]! - rankOf(candidates.subarray(0, 1))) <= 2)
  }),
)
