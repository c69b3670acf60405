/**
 * The whole server beside vLLM's CPU build of PyPI, on the same tokens: SmolLM2-135M, whose weights
 * both have as the same BF16 numbers (vllm/convert.py); ours also in Q8_0 and as the file is.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DecideRequest } from '../../../src/decide/types.js'
import { root } from '../../build/paths.js'
import { BuildError, run } from '../../build/run.js'
import { ensureRealModel } from '../../fetch-model/real-models.js'
import { pythonEnvironment } from '../../python/environment.js'
import { type Bench, measure, wants } from '../bench.js'
import { withEngine, withVocabulary } from '../engine-load.js'
import { Figures } from '../figure.js'
import { type ModelFile, modelFile } from '../model-file.js'
import { type OiServer, withOiServer } from '../oi-server.js'
import { Requests, type Size } from '../requests.js'
import { VllmServer } from '../vllm-server.js'
import { askOurs, decisions } from './peer.js'

const own = join(root, 'scripts/bench/vllm')
/** Tokens of a block of the K/V cache: vLLM's default on a CPU, and the least that it advises. */
const blockSizes = [128, 32]
/** Between probabilities of a label: activations are rounded in different places. */
const tolerance = 0.05
const goal = 1.5

interface Load {
  readonly name: string
  /** The requests of a round: all at once unless `inTurn`. The first round is not timed. */
  next(): Promise<DecideRequest[]>
  readonly inTurn?: boolean
}

interface Rival {
  readonly name: string
  readonly server: VllmServer
}

interface Ours {
  readonly name: string
  readonly server: OiServer
}

export async function vllm(bench: Bench): Promise<void> {
  const requirements = join(own, 'requirements.txt')
  const overrides = join(own, 'overrides.txt')
  const environment = await pythonEnvironment({ name: 'vllm', requirements, overrides })
  if ('missing' in environment) throw new BuildError(environment.missing)
  const { python } = environment
  const source = await ensureRealModel('smollm2-135m')
  const folder = mkdtempSync(join(tmpdir(), 'oi-vllm-'))
  const rivals: Rival[] = []
  try {
    await run(python, [join(own, 'convert.py'), source, folder])
    const files = { BF16: join(folder, 'BF16.gguf'), Q8_0: join(folder, 'Q8_0.gguf') }
    const model = await modelFile(files.BF16, bench.options)
    const models: [string, ModelFile][] = []
    for (const [name, path] of Object.entries({ ...files, 'the file as it is': source })) {
      models.push([`ours, ${name}`, await modelFile(path, bench.options)])
    }
    for (const blockTokens of blockSizes) {
      const options = { blockTokens, threads: model.threads }
      const server = await VllmServer.start(python, folder, options)
      rivals.push({ name: `vLLM, blocks of ${blockTokens}`, server })
    }
    await withVocabulary(model.path, async (vocabulary) => {
      const requests = await Requests.create(vocabulary)
      for (const { server } of rivals) await compareAnswers(bench, model, server, requests)
      await withServers(models, async (ours) => {
        for (const load of loadsOf(requests)) {
          if (!wants(bench, load.name)) continue
          bench.say(`  ${load.name}`)
          const figures = await compare(bench, load, requests, ours, rivals)
          bench.record(figures.all, model)
        }
      })
    })
  } finally {
    for (const { server } of rivals) await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withServers(
  models: readonly [string, ModelFile][],
  use: (servers: Ours[]) => Promise<void>,
): Promise<void> {
  const [first, ...rest] = models
  if (first === undefined) return use([])
  const [name, model] = first
  await withOiServer(model, (server) =>
    withServers(rest, (others) => use([{ name, server }, ...others])),
  )
}

function loadsOf(requests: Requests): Load[] {
  const size = (stateTokens: number, questions: number): Size => {
    return { stateTokens, questions, questionTokens: 53 }
  }
  const many = (count: number, make: () => Promise<DecideRequest>) =>
    Promise.all(Array.from({ length: count }, make))
  let known: DecideRequest | undefined
  return [
    {
      name: 'one caller, one question, new states of 400 tokens',
      next: () => many(8, () => requests.make(size(400, 1))),
      inTurn: true,
    },
    {
      name: '16 callers, 3 questions, new states of 134 tokens',
      next: () => many(16, () => requests.make(size(134, 3))),
    },
    {
      name: '64 questions on a new state of 729 tokens',
      next: () => many(1, () => requests.make(size(729, 64))),
    },
    {
      name: 'new questions one by one on a known state of 400 tokens',
      next: async () => {
        const state = (known ??= await requests.make(size(400, 0)))
        return many(16, () => requests.again(state, size(400, 1)))
      },
      inTurn: true,
    },
  ]
}

async function compare(
  bench: Bench,
  load: Load,
  requests: Requests,
  ours: readonly Ours[],
  rivals: readonly Rival[],
): Promise<Figures> {
  let round: readonly DecideRequest[] = []
  let bytes: readonly Buffer[] = []
  const prepare = async () => {
    round = await load.next()
    bytes = await Promise.all(
      round.map(async (request) => {
        const prompts = await requests.prompts(request)
        return VllmServer.prepare(prompts, labelsOf(requests, request))
      }),
    )
  }
  const subject = (name: string, ask: () => Promise<number>) => ({
    name,
    run: async () => ({ [`${load.name}: ${name}`]: (decisions(round) / (await ask())) * 1000 }),
  })
  const subjects = [
    ...ours.map(({ name, server }) => subject(name, () => askOurs(server, load, round))),
    ...rivals.map(({ name, server }) =>
      subject(name, () => server.ask(bytes, load.inTurn ? 1 : bytes.length)),
    ),
  ]
  await prepare()
  for (const { run } of subjects) await run()
  const figures = new Figures('vllm', await measure(bench, subjects, prepare))
  for (const { name } of subjects) figures.add(`${load.name}: ${name}`, 'decisions/s')
  const best = figures.best(rivals.map(({ name }) => `${load.name}: ${name}`))
  const against = `${load.name}: ours, BF16 / best of vLLM`
  figures.addRatio(against, `${load.name}: ours, BF16`, best, { atLeast: goal })
  return figures
}

/** @throws Error if the two give other probabilities for the same prompts. */
async function compareAnswers(
  bench: Bench,
  { path, threads }: ModelFile,
  server: VllmServer,
  requests: Requests,
): Promise<void> {
  const request = await requests.make({ stateTokens: 400, questions: 3, questionTokens: 53 })
  const labels = labelsOf(requests, request)
  const theirs = await server.logProbabilities(await requests.prompts(request), labels)
  const input = requests.input(request)
  const { logits } = await withEngine({ modelPath: path, threads }, (engine) => engine.score(input))
  const pairs = theirs.flatMap((row, i) => {
    const begin = i * (labels.length + 1)
    const all = logits[begin + labels.length]!
    return row.map((value, k) => [Math.exp(logits[begin + k]! - all), Math.exp(value)] as const)
  })
  const apart = Math.max(...pairs.map(([a, b]) => Math.abs(a - b)))
  const text = pairs.map((pair) => pair.map((share) => share.toFixed(4)).join(' and ')).join(', ')
  bench.note(`vllm: probabilities of labels, ours and vLLM's: ${text}`)
  if (!(apart <= tolerance)) throw new Error(`vLLM answers otherwise than we do: ${text}`)
}

/** The labels of every question: all are of one type. */
function labelsOf(requests: Requests, request: DecideRequest): Int32Array {
  return requests.input(request).suffixes[0]!.candidates
}
