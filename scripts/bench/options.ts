/**
 * The command line of the benchmarks.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../command.js'

const layerNames = [
  ...(['ceiling', 'kernels', 'prefill', 'engine', 'runner', 'http', 'front', 'peer'] as const),
  ...(['scaling', 'fairness', 'contention', 'overload', 'loop', 'soak'] as const),
] as const
/** Not in `all`: two need PyPI, two are about GPUs, and one repeats parts of those layers. */
const ownLayerNames = ['coherence', 'vllm', 'host', 'device', 'invariance'] as const
export type LayerName = (typeof layerNames)[number] | (typeof ownLayerNames)[number]

export type BenchOptions = Readonly<ReturnType<typeof readOptions>>

const quickDivisor = 4

/** A size under `--quick`. */
export function quickly({ quick }: BenchOptions): (size: number) => number {
  return (size) => (quick ? Math.ceil(size / quickDivisor) : size)
}

export const usage = `Usage: npm run bench -- LAYER [options]

Layers
  ceiling   llama-bench of the same llama.cpp: what the engine could reach
  kernels   our own CPU kernels, against llama.cpp's and the peak of the vector units
  prefill   prompts of 512 and 4,096 tokens for each type of weights, against llama-bench
  engine    the engine without HTTP, against the ceiling
  runner    the engine in another process, against the same engine in this process
  http      the whole server, against the engine
  front     the server without a model, against the same handlers on node:http
  peer      the whole server against llama-server of the same llama.cpp
  scaling   cost over questions, state tokens and clients, with a plot
  fairness  short requests beside a long one, a workspace beside one that floods
  contention  the engine beside processes that spin, and two engines, in one process and in two
  overload  the whole server at twice its sustainable rate
  loop      the time of /healthz beside each kind of load
  soak      many mixed requests to the whole server: memory, handles, failures
  all       these in turn
  coherence  whether answers agree with one another: jevbench, from PyPI
  vllm      the whole server against vLLM's CPU build, from PyPI, on the same BF16 numbers
  invariance  whether answers have the same bits in any company, and what asking for that costs
  host      what a GPU's steps cost the host, on a CPU: time, graphs used again, cells read
  device    on a GPU: questions, clients and sharing beside published figures; http and scaling

Options
  --model FILE|NAME     a GGUF file, or a name of \`npm run fetch-model\` (default: random weights,
                        made on first use: in the shape of Qwen3-0.6B, and a small one for scaling,
                        fairness and soak; the own one of the package for runner and coherence)
  --type TYPE           weights, without --model: BF16, Q8_0, … (default Q4_0; F32 of a small one)
  --rounds N            rounds that count (default 5)
  --retries N           disturbed rounds that are repeated (default as many as rounds)
  --json FILE           writes all figures to a file
  --unsaved             appends nothing to scripts/bench/results
  --tools DIR           folder of llama-bench and llama-server, built already
  --threads N           threads of the model (default: the engine's choice)
  --ubatch N            tokens of a microbatch (default: 512 for llama-bench, else the engine's
                        choice)
  --flash on|off|auto   flash attention, in the layer engine (default auto)
  --cache-type T        K/V cells, in the layers ceiling and engine: f16 (default), bf16, f32
  --kernels auto|off    our own kernels, in the layers prefill, engine, http, peer, overload and
                        soak (default auto)
  --state-tokens N      tokens of a state (default 1000)
  --questions N         questions of a request (default 8; peer 16)
  --question-tokens N   tokens of a question (default 40)
  --only TEXT           only rows whose name contains TEXT, as "same state", in the layers kernels,
                        prefill, engine, peer, scaling, fairness, loop, host, device and
                        invariance
  --quick               scaling, fairness, host and device at a quarter of their sizes; coherence
                        with a single case
  --seconds N           length of a measurement (default 5 in front and loop, 4 in contention, 180
                        in overload)
  --requests N          requests of the layers soak and invariance (default 10,000)

The layers http, peer, overload and soak run the server with its own settings. Every group of
figures is saved as soon as it is measured.`

/**
 * @throws {@link UsageError} naming what is wrong, and as `parseArgs` does.
 */
export function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      model: { type: 'string' },
      type: { type: 'string' },
      json: { type: 'string' },
      unsaved: { type: 'boolean' },
      rounds: { type: 'string', default: '5' },
      retries: { type: 'string' },
      threads: { type: 'string' },
      ubatch: { type: 'string' },
      flash: { type: 'string', default: 'auto' },
      'cache-type': { type: 'string', default: 'f16' },
      kernels: { type: 'string', default: 'auto' },
      'state-tokens': { type: 'string', default: '1000' },
      questions: { type: 'string', default: '8' },
      'question-tokens': { type: 'string', default: '40' },
      seconds: { type: 'string' },
      requests: { type: 'string', default: '10000' },
      quick: { type: 'boolean' },
      only: { type: 'string', default: '' },
      tools: { type: 'string' },
    },
  })
  const rounds = wholeNumber('rounds', values.rounds, 1)
  return {
    layers: layersOf(positionals),
    /** A GGUF file; by default each layer has its own shape. */
    model: values.model,
    /** Weights of the shapes; by default each shape's own. */
    type: values.type,
    json: values.json,
    save: !values.unsaved,
    rounds,
    retries: optional('retries', values.retries, 0) ?? rounds,
    threads: optional('threads', values.threads, 1),
    /** Undefined: the defaults of llama-bench and of the engine. */
    microbatchTokens: optional('ubatch', values.ubatch, 64),
    flashAttention: oneOf('flash', values.flash, ['auto', 'on', 'off']),
    cacheType: oneOf('cache-type', values['cache-type'], ['f16', 'bf16', 'f32']),
    /** Our own kernels on the CPU. */
    kernels: oneOf('kernels', values.kernels, ['auto', 'off']),
    stateTokens: wholeNumber('state-tokens', values['state-tokens'], 32),
    questions: wholeNumber('questions', values.questions, 1),
    questionTokens: wholeNumber('question-tokens', values['question-tokens'], 32),
    /** Length of a measurement; by default each layer's own. */
    seconds: optional('seconds', values.seconds, 1),
    requests: wholeNumber('requests', values.requests, 100),
    quick: values.quick ?? false,
    /** Rows of a layer whose name contains it; all if empty. */
    only: values.only,
    /** Folder with llama-bench and llama-server; without it they are built. */
    tools: values.tools,
  }
}

function layersOf(positionals: readonly string[]): readonly LayerName[] {
  const [name, ...rest] = positionals
  const known = `${layerNames.join(', ')}, all; ${ownLayerNames.join(', ')}`
  if (name === undefined) throw new UsageError(`Name a layer: ${known}`)
  if (rest.length > 0)
    throw new UsageError(`One layer at a time, or all: got ${positionals.join(' ')}`)
  if (name === 'all') return layerNames
  const layer = [...layerNames, ...ownLayerNames].find((each) => each === name)
  if (layer === undefined) throw new UsageError(`Unknown layer ${name}: expected one of ${known}`)
  return [layer]
}

function optional(name: string, text: string | undefined, min: number): number | undefined {
  return text === undefined ? undefined : wholeNumber(name, text, min)
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const value = allowed.find((each) => each === text)
  if (value !== undefined) return value
  throw new UsageError(`--${name}: expected one of ${allowed.join(', ')}, got "${text}"`)
}
