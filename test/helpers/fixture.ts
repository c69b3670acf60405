/**
 * Fixture models for tests, made on first use, and small inputs for them.
 *
 * @module
 */

import { openEngine as openHere, type EngineOptions } from '../../src/engine/engine.js'
import type { Engine, PromptPart, ScoreInput, Suffix } from '../../src/engine/types.js'
import { openIsolated } from '../../src/runner/isolate.js'
import { ensureModel } from '../../scripts/make-model/ensure.js'

/**
 * `small` loads fastest. `dense`, `hybrid` and `mrope` take the projector; the last two have
 * positions in two dimensions for it. `window` sees 64 tokens in every second layer, `experts` is a
 * mixture of experts, `oss` is both. `prefix` is an encoder that is read in parts; those behind them have a pooled head, or none. Names with `-qwen` have the
 * Qwen families' real vocabularies, of 150,000 and 250,000 tokens.
 */
export type FixtureName =
  | 'small'
  | 'dense'
  | 'dense-qwen'
  | 'hybrid'
  | 'hybrid-qwen'
  | 'mrope'
  | 'llama'
  | 'window'
  | 'experts'
  | 'oss'
  | 'lfm2'
  | 'prefix'
  | 'reranker'
  | 'classifier'
  | 'embedding'
  | 'modern-reranker'
  | 'qwen3-reranker'

export const fixturePath = (name: FixtureName, options: Parameters<typeof ensureModel>[1] = {}) =>
  ensureModel(`fixture-${name}`, options)

/** The projector for fixtures of width 256. */
export const projectorPath = () => ensureModel('fixture-vision')

/** Whether engines run in their own processes: `npm run test:isolated`. */
export const isolated = process.env['OI_TEST_ISOLATE'] === '1'

/** Opens the engine of a test; a runner must make no difference. */
export const openEngine: (options: EngineOptions) => Promise<Engine> = isolated
  ? openIsolated
  : openHere

/** Layers on the device; default: all. See `npm run test:device`. */
const gpuLayers = process.env['OI_TEST_GPU_LAYERS']

/** Opens a model, passes it to `use`, and always closes it. */
export async function whileOpen<T>(
  options: EngineOptions,
  use: (engine: Engine) => Promise<T> | T,
): Promise<T> {
  const engine = await openEngine(options)
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

/** The same of a fixture. */
export const withEngine = async <T>(
  name: FixtureName,
  options: Omit<EngineOptions, 'modelPath'>,
  use: (engine: Engine) => Promise<T> | T,
): Promise<T> =>
  whileOpen(
    {
      ...{ modelPath: await fixturePath(name), contextTokens: 4096 },
      ...(gpuLayers !== undefined && { gpuLayers: Number(gpuLayers) }),
      ...options,
    },
    use,
  )

/** An image whose pixels depend on `seed`. Its rows: a twenty-eighth of each side, rounded. */
export function picture(seed: number, width = 112, height = 84): PromptPart {
  const rgb = new Uint8Array(3 * width * height)
  let state = seed * 2654435761 + 1
  for (let i = 0; i < rgb.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    // Blocks, which survive scaling better than noise does.
    rgb[i] = ((i >> 5) * (seed + 3) + (state >>> 27)) & 255
  }
  return { text: '', trusted: false, image: { rgb, width, height } }
}

export const user = (text: string): PromptPart => ({ text, trusted: false })
export const template = (text: string): PromptPart => ({ text, trusted: true })

/** Five token ids of every fixture's vocabulary. */
export const candidates = Int32Array.of(32, 33, 34, 35, 36)

/** A question whose text and length depend on `i`. */
export const question = (i: number): Suffix => ({
  parts: [
    user(`\n\nQuestion ${i}: is it so?${' Think of it.'.repeat(i % 5)}`),
    template('<|im_end|>\n<|im_start|>assistant\n'),
  ],
  candidates,
})

/** A state of about `words` tokens and questions `from` to `from + count - 1`. */
export const input = (words: number, count: number, from = 0): ScoreInput => ({
  prefix: [template('<|im_start|>user\n'), user(text(words))],
  suffixes: Array.from({ length: count }, (_, i) => question(from + i)),
})

/** A state with a unique beginning, so that no cache has any of it. */
export const unique = (id: number | string, words: number, questions = 1): ScoreInput => ({
  prefix: [user(`${id}: ${text(words)}`)],
  suffixes: Array.from({ length: questions }, (_, i) => question(i)),
})

/** Cells for one endless request and a few short ones beside it. */
export const endlessContext = 65_536

/**
 * A request that takes seconds on any machine, to be cancelled: assertions about it while it waits
 * or runs hold even if a thread of the test or of the engine stands still for a second.
 */
export const endless = (id: number | string, questions = 1) => unique(id, 60_000, questions)

/**
 * Waits until an engine has taken all earlier requests: its counters then include them. This holds
 * for an engine in its own process too, because it takes requests in order.
 */
export async function taken(engine: Engine): Promise<void> {
  await engine.countTokens('.')
}

/** The outcome of a request. */
export const outcomeOf = (pending: Promise<unknown>): Promise<string> =>
  pending.then(
    () => 'answered',
    (error: { code: string }) => error.code,
  )

/** `words` words, the same for each number. */
export function text(words: number): string {
  const list = ['river', 'stone', 'letter', 'cloud', 'engine', 'garden', 'window', 'paper']
  return Array.from({ length: words }, (_, i) => list[(i * 7 + ((i * i) % 11)) % list.length]).join(
    ' ',
  )
}
