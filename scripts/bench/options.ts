/**
 * The command line of the benchmarks.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import type { EngineOptions } from '../../src/engine/engine.js'

export const layerNames = ['ceiling', 'engine', 'http', 'front', 'peer'] as const
export type LayerName = (typeof layerNames)[number]

export interface BenchOptions {
  readonly layers: readonly LayerName[]
  /** A GGUF file; without it the benchmark model of {@link BenchOptions.type}. */
  readonly model: string | undefined
  readonly type: string
  readonly json: string | undefined
  readonly save: boolean
  readonly rounds: number
  readonly retries: number
  readonly threads: number | undefined
  readonly microbatchTokens: number
  readonly flashAttention: NonNullable<EngineOptions['flashAttention']>
  readonly cacheType: NonNullable<EngineOptions['cacheType']>
  readonly stateTokens: number
  readonly questions: number
  readonly questionTokens: number
  readonly seconds: number
  /** Rows of the layer peer whose name contains it; all when empty. */
  readonly only: string
  /** Folder with llama-bench and llama-server; without it they are built. */
  readonly tools: string | undefined
}

/** The message is all that a person needs. */
export class UsageError extends Error {}

export const usage = `Usage: npm run bench -- LAYER [options]

Layers
  ceiling   llama-bench of the same llama.cpp: what the engine could reach
  engine    the engine without HTTP, against the ceiling
  http      the whole server, against the engine
  front     the server without a model, against the same handlers on node:http
  peer      the whole server against llama-server of the same llama.cpp
  all       these in turn

Options
  --model FILE          a GGUF file; by default one in the shape of Qwen3-0.6B, made on first use
  --type TYPE           its weights, without --model: Q4_0 (default), BF16, Q8_0, …
  --rounds N            rounds that count; 5
  --retries N           disturbed rounds that are thrown away; as many as rounds
  --json FILE           writes everything that was measured
  --unsaved             adds nothing to scripts/bench/results
  --tools DIR           llama-bench and llama-server that are built already
  --threads N           threads of the model; by default what the engine chooses
  --ubatch N            tokens of one compute graph; 512
  --flash on|off|auto   flash attention of the engine in the layer engine; auto
  --cache-type T        K/V cells in the layers ceiling and engine: f16 (default), bf16, f32
  --state-tokens N      1000
  --questions N         8; the layer peer asks 16
  --question-tokens N   40
  --only TEXT           rows of the layer peer whose name contains it, as "same state"
  --seconds N           one measurement of the layer front; 5

The layers http and peer run the server with its own settings.`

/**
 * @throws {@link UsageError} naming what is wrong.
 */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const rounds = integer('rounds', values.rounds, 1)
  const threads = values.threads
  return {
    layers: layersOf(positionals),
    model: values.model,
    type: values.type,
    json: values.json,
    save: !values.unsaved,
    rounds,
    retries: values.retries === undefined ? rounds : integer('retries', values.retries, 0),
    threads: threads === undefined ? undefined : integer('threads', threads, 1),
    microbatchTokens: integer('ubatch', values.ubatch, 32),
    flashAttention: oneOf('flash', values.flash, ['auto', 'on', 'off']),
    cacheType: oneOf('cache-type', values['cache-type'], ['f16', 'bf16', 'f32']),
    stateTokens: integer('state-tokens', values['state-tokens'], 32),
    questions: integer('questions', values.questions, 1),
    questionTokens: integer('question-tokens', values['question-tokens'], 32),
    seconds: integer('seconds', values.seconds, 1),
    only: values.only,
    tools: values.tools,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        model: { type: 'string' },
        type: { type: 'string', default: 'Q4_0' },
        json: { type: 'string' },
        unsaved: { type: 'boolean' },
        rounds: { type: 'string', default: '5' },
        retries: { type: 'string' },
        threads: { type: 'string' },
        ubatch: { type: 'string', default: '512' },
        flash: { type: 'string', default: 'auto' },
        'cache-type': { type: 'string', default: 'f16' },
        'state-tokens': { type: 'string', default: '1000' },
        questions: { type: 'string', default: '8' },
        'question-tokens': { type: 'string', default: '40' },
        seconds: { type: 'string', default: '5' },
        only: { type: 'string', default: '' },
        tools: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function layersOf(positionals: readonly string[]): readonly LayerName[] {
  const [name, ...rest] = positionals
  const known = `${layerNames.join(', ')}, all`
  if (name === undefined) throw new UsageError(`Name a layer: ${known}`)
  if (rest.length > 0)
    throw new UsageError(`One layer at a time, or all: got ${positionals.join(' ')}`)
  if (name === 'all') return layerNames
  const layer = layerNames.find((each) => each === name)
  if (layer === undefined) throw new UsageError(`Unknown layer ${name}: expected one of ${known}`)
  return [layer]
}

function integer(name: string, text: string, min: number): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= min && text.trim() !== '') return value
  throw new UsageError(`--${name}: expected a whole number from ${min} on, got "${text}"`)
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const value = allowed.find((each) => each === text)
  if (value !== undefined) return value
  throw new UsageError(`--${name}: expected one of ${allowed.join(', ')}, got "${text}"`)
}
