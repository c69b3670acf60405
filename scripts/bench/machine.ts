/**
 * The machine and the subject of a measurement, without names of hosts or folders.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { loadAddon } from '../../src/engine/native.js'
import { buildDir } from '../build/native.js'
import { root } from '../build/paths.js'

export interface Provenance {
  /** As `amd-epyc-family-26-model-2-2-cores`: also the name of the results' file. */
  readonly machine: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly date: string
  /** The commit of this project; `+dirty` if the working tree differs from it. */
  readonly commit: string
  readonly llamaCommit: string
  readonly build: string
  readonly command: string
}

export function provenance(args: readonly string[]): Provenance {
  const cpu = cpuName()
  const cores = availableParallelism()
  return {
    machine: `${slug(cpu)}-${cores}-cores`,
    cpu,
    cores,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    date: new Date().toISOString(),
    commit: commit(),
    llamaCommit: loadAddon().llamaCommit,
    build: buildFlags(),
    command: ['npm run bench --', ...args.map(withoutFolders)].join(' '),
  }
}

/** With the generation if the name lacks it: generations differ in their instructions. */
function cpuName(): string {
  const name = cpus()[0]?.model.trim() ?? process.arch
  const facts = existsSync(cpuFacts) ? readFileSync(cpuFacts, 'utf8') : ''
  const fact = (key: string) => new RegExp(`^${key}\\s*: (\\d+)$`, 'm').exec(facts)?.[1]
  const [family, model] = [fact('cpu family'), fact('model')]
  if (/\d/.test(name) || family === undefined || model === undefined) return name
  return `${name} (family ${family}, model ${model})`
}

const cpuFacts = '/proc/cpuinfo'

function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\((r|tm)\)/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

function withoutFolders(arg: string): string {
  const equals = arg.startsWith('--') ? arg.indexOf('=') + 1 : 0
  return arg.slice(0, equals) + basename(arg.slice(equals))
}

function commit(): string {
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const head = git('rev-parse', '--short=12', 'HEAD')
  if (head === '') return 'unknown'
  // Results are appended by every run, and do not affect a measurement.
  const changes = git('status', '--porcelain', '--', '.', ':!scripts/bench/results')
  return changes === '' ? head : `${head}+dirty`
}

const flags = ['CMAKE_BUILD_TYPE', 'GGML_NATIVE', 'GGML_OPENMP', 'GGML_CUDA', 'OI_PORTABLE']

/** CMake's settings, as far as they affect speed. */
function buildFlags(): string {
  const path = join(buildDir(new Set()), 'CMakeCache.txt')
  if (!existsSync(path)) return 'unknown'
  const cache = readFileSync(path, 'utf8')
  return flags
    .flatMap((name) => {
      const value = new RegExp(`^${name}:[A-Z]+=(.*)$`, 'm').exec(cache)?.[1]
      return value === undefined || value === '' ? [] : [`${name}=${value}`]
    })
    .join(' ')
}
