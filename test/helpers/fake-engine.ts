/**
 * An Engine without a model: equal inputs have equal logits, other inputs have other logits.
 *
 * Its tokenizer knows words (with at most one leading space), digits and single characters. A
 * token's id is a hash of its text, so ids do not depend on earlier requests. With `info.vision`,
 * an image is a run of one token: a hash of its pixels, once for each 28 × 28 pixels.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readRequest } from '../../src/api/read-request.js'
import { createDecider, type DeciderOptions } from '../../src/decide/decide.js'
import type { DecideOptions } from '../../src/decide/types.js'
import { noStats } from '../../src/engine/stats.js'
import { OiError } from '../../src/errors.js'
import type {
  Engine,
  EngineStats,
  ImagePixels,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
} from '../../src/engine/types.js'

export interface FakeEngineOptions {
  /** Replaces facts of the model, such as its chat template. */
  readonly info?: Partial<ModelInfo>
  /** Whether a word is one token; otherwise it is spelled. Default: every word is. */
  readonly isWord?: (word: string) => boolean
  /** The logit of a token after a prompt. Default: a hash between -8 and 8. */
  readonly logit?: (prompt: string, token: string) => number
  /** Time for a request. Default 0. */
  readonly delayMs?: number
  /** Concurrent requests before `ERR_OVERLOADED`. Default: no limit. */
  readonly maxQueued?: number
}

export interface FakeEngine extends Engine {
  /** Every scored input. */
  readonly scored: readonly ScoreInput[]
}

/** A chat template of the common kind. */
const fakeChatTemplate =
  "{% for message in messages %}<|start|>{{ message['role'] }}\n" +
  "{{ message['content'] }}<|end|>\n{% endfor %}" +
  '{% if add_generation_prompt %}<|start|>assistant\n{% endif %}'

const info: ModelInfo = {
  vision: false,
  architecture: 'fake',
  description: 'fake 1M F32',
  parameters: 1_000_000,
  weightBytes: 4_000_000,
  vocabularySize: 2 ** 31 - 1,
  trainedContextTokens: 8192,
  contextTokens: 8192,
  maxStateTokens: 8192,
  maxForks: 16,
  recurrent: false,
  hybrid: false,
  metadata: { 'general.name': 'Fake' },
  chatTemplate: fakeChatTemplate,
  chatTemplates: {},
  bosToken: '<|bos|>',
  eosToken: '<|end|>',
  contextBytes: 1_000_000,
  threads: 1,
  sameBits: true,
  stepTokens: 512,
  hostCacheBytes: 0,
  device: 'CPU',
  placement: [],
  notes: [],
  kernels: '',
}

const controlTokens = ['<|bos|>', '<|start|>', '<|end|>']
const control = /(<\|bos\|>|<\|start\|>|<\|end\|>)/
const pieces = / ?[\p{L}]+|\d|[^]/gu

export function createFakeEngine(options: FakeEngineOptions = {}): FakeEngine {
  return new HashEngine(options)
}

/** Of the file of an engine without a model, whose name is `fake`. */
export const fakeFacts = {
  ...{ fileName: 'fake.gguf', digest: `sha256:${'0'.repeat(64)}`, releaseDate: '2025-01-02' },
}

/** A decider over an engine without a model. */
export const fakeDecider = (options: Partial<DeciderOptions> = {}) =>
  createDecider(createFakeEngine(), { ...fakeFacts, ...options })

/** Such a decider, its engine, and how it is asked with a body as clients send it. */
export async function fakeAsker(options: FakeEngineOptions = {}) {
  const engine = createFakeEngine(options)
  const decider = await createDecider(engine, fakeFacts)
  const ask = (body: string | object, more: DecideOptions = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return decider.decide(readRequest(text, decider.limits), more)
  }
  return { engine, decider, ask }
}

/** Open to those who replace a part of it. */
export class HashEngine implements FakeEngine {
  readonly info: ModelInfo
  readonly scored: ScoreInput[] = []
  readonly #options: FakeEngineOptions
  readonly #seen = new Set<string>()
  readonly #texts = new Map<number, string>()
  readonly #pending = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: FakeEngineOptions) {
    this.#options = options
    this.info = { ...info, ...options.info }
  }

  async score(input: ScoreInput, { signal }: ScoreOptions = {}): Promise<ScoreOutput> {
    this.#requireOpen()
    if (this.#pending.size >= (this.#options.maxQueued ?? Infinity)) {
      throw new OiError('ERR_OVERLOADED', 'engine queue is full', { retryAfterMs: 1000 })
    }
    if (signal?.aborted) throw aborted(signal.reason)
    const stop = new AbortController()
    const abort = () => stop.abort()
    signal?.addEventListener('abort', abort)
    const work = sleep(this.#options.delayMs ?? 0, undefined, { signal: stop.signal })
    this.#pending.add(work)
    try {
      await work
    } catch {
      throw aborted(signal?.reason)
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#pending.delete(work)
    }
    return this.#evaluate(input)
  }

  async tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    this.#requireOpen()
    return texts.map((part) => this.#ids([part]))
  }

  async countTokens(text: string): Promise<number> {
    this.#requireOpen()
    return this.#ids([{ text, trusted: false }]).length
  }

  stats(): EngineStats {
    return { ...noStats(), queuedRequests: this.#pending.size, answered: this.scored.length }
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return Array.from(ids, (id) => id >= controlTokens.length)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#pending)
  }

  #requireOpen(): void {
    if (this.#closed) throw new OiError('ERR_ENGINE_CLOSED', 'engine is closed')
  }

  #evaluate(input: ScoreInput): ScoreOutput {
    this.scored.push(input)
    const prefix = this.#ids(input.prefix)
    const suffixes = input.suffixes.map((suffix) => this.#ids(suffix.parts))
    const longest = prefix.length + Math.max(0, ...suffixes.map((ids) => ids.length))
    if (longest > this.info.contextTokens) {
      throw new OiError(
        'ERR_STATE_TOO_LONG',
        `state and longest question take ${longest} tokens, the limit is ${this.info.contextTokens}`,
        longest > 2 * prefix.length
          ? { suffix: suffixes.findIndex((ids) => prefix.length + ids.length === longest) }
          : {},
      )
    }

    const logits = input.suffixes.flatMap(({ candidates }, i) =>
      candidates.length === 0 ? [] : this.#logits([...prefix, ...suffixes[i]!], candidates),
    )
    const key = prefix.join()
    const cached = this.#seen.has(key)
    this.#seen.add(key)
    return {
      logits: Float32Array.from(logits),
      // The mass besides the candidates is that of one token.
      ranks: Int32Array.from(
        input.suffixes.filter(({ candidates }) => candidates.length > 0),
        () => 1,
      ),
      prefixTokens: prefix.length,
      suffixTokens: input.suffixes.reduce((sum, { parts, counts }) => {
        return sum + this.#ids(counts ?? parts).length
      }, 0),
      cachedTokens: cached ? prefix.length : 0,
      evaluatedTokens: suffixes.reduce((sum, ids) => sum + ids.length, cached ? 0 : prefix.length),
      queueMs: 0.25,
      tokenizeMs: 0.125,
      imageTokens: input.prefix.reduce((sum, { image }) => sum + (image ? patches(image) : 0), 0),
      visionMs: input.prefix.some(({ image }) => image !== undefined) ? 2.5 : 0,
      modelMs: 1.5 + (this.#options.delayMs ?? 0),
    }
  }

  /** Logits of the candidates, then a vocabulary with as much mass besides them. */
  #logits(prompt: readonly number[], candidates: Int32Array): number[] {
    const text = prompt.map((id) => this.#texts.get(id)!).join('')
    const own = Array.from(candidates, (id) => {
      const token = this.#texts.get(id) ?? ''
      return this.#options.logit?.(text, token) ?? hashLogit(`${prompt.join()}:${id}`)
    })
    const mass = own.reduce((sum, logit) => sum + Math.exp(logit), 0)
    return [...own, Math.log(2 * mass)]
  }

  #ids(parts: readonly PromptPart[]): Int32Array {
    return Int32Array.from(
      parts.flatMap(({ text, trusted, image }) => {
        if (image !== undefined) return this.#picture(image)
        return (trusted ? text.split(control) : [text]).flatMap((run) => {
          const id = trusted ? controlTokens.indexOf(run) : -1
          return id === -1 ? this.#split(run) : [this.#remember(id, run)]
        })
      }),
    )
  }

  #picture(image: ImagePixels): number[] {
    if (!this.info.vision) throw new Error('a picture for a model that sees none')
    const { rgb, width, height } = image
    if (rgb.length !== 3 * width * height) throw new Error('a picture of another size')
    const id = idOf(`${width}:${Buffer.from(rgb).toString('latin1')}`)
    return new Array<number>(patches(image)).fill(this.#remember(id, ''))
  }

  #split(text: string): number[] {
    const isWord = this.#options.isWord ?? (() => true)
    return (text.match(pieces) ?? [])
      .flatMap((piece) => (piece.length === 1 || isWord(piece) ? [piece] : [...piece]))
      .map((piece) => this.#remember(idOf(piece), piece))
  }

  #remember(id: number, text: string): number {
    this.#texts.set(id, text)
    return id
  }
}

function patches({ width, height }: ImagePixels): number {
  return Math.ceil(width / 28) * Math.ceil(height / 28)
}

function aborted(cause: unknown): OiError {
  return new OiError('ERR_ABORTED', 'the request was aborted', { cause })
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  }
  return state >>> 0
}

function idOf(piece: string): number {
  return controlTokens.length + (hash(piece) % (2 ** 31 - 1 - controlTokens.length))
}

function hashLogit(text: string): number {
  // Mixed once more: the last bits of FNV hardly depend on the last characters.
  const mixed = Math.imul(hash(text) ^ (hash(text) >>> 15), 0x2c1b3c6d) >>> 0
  return (mixed / 2 ** 32) * 16 - 8
}

/** An engine of which these single characters alone can be labels. */
export async function engineOfLabels(letters: string): Promise<FakeEngine> {
  const engine = createFakeEngine({ isWord: (word) => word.length < 2 })
  const tokens = await engine.tokenize([...letters].map((text) => ({ text, trusted: true })))
  const known = new Set(tokens.map(([token]) => token))
  engine.areOrdinary = (ids) => Array.from(ids, (id) => known.has(id))
  return engine
}
