/**
 * The checks in each place of the matrix, as a user would: install, decide, ask, serve.
 *
 * @module
 */

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Outcome, outcomeOf } from '../outcome.js'
import { project as own, serverName } from '../package/manifests.js'
import { packagesDir, packagesFromFiles, tarballsIn } from '../package/packages.js'
import { holdsWithin } from '../wait.js'
import { type DebianTree, matrixDir, type Place } from './debian.js'
import type { NodeRelease } from './nodes.js'

/** How a check ended. */
export interface Result {
  readonly state: 'passed' | 'failed' | 'not run'
  /** The text of the table's cell. */
  readonly text: string
  /** More than fits into a cell. */
  readonly reason?: string
}

/** A failure that a user would see. */
class Failure extends Error {}

export const steps = ['install', 'decide', 'ask', 'serve', 'serveNode'] as const
export type Step = (typeof steps)[number]
export type Results = Readonly<Record<Step, Result>>

export interface Subject {
  readonly tree: DebianTree
  readonly node: NodeRelease
  /** The folder of npm. */
  readonly npm: string
  /** An empty folder for its projects. */
  readonly folder: string
  /** The folder of better-sqlite3 12 with its binary, or why it is missing, if it is needed. */
  readonly sqlite: { readonly folder: string } | { readonly missing: string } | undefined
}

const question = { type: 'noul', instructions: 'Is this about money?' }
const state = 'My card was charged twice.'

/** One decision. */
export const program = `import { open } from '${own.name}'
const oi = await open({ threads: 1 })
const { answers } = await oi.decide(${JSON.stringify({ state, questions: { money: question } })})
console.log(JSON.stringify(answers))
await oi.close()
`
/** What it writes. */
export const answer = /\{"money":\{"type":"noul","noul":(0\.\d+)\}\}/

/** npm, only to install packages. */
export const npmInstall = [
  ...['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'],
  ...['--cache', join(matrixDir, 'npm-cache')],
]

/** How long a server may take to be ready, milliseconds: the machine may be busy. */
const patienceMs = 120_000

/** Runs every check, also after a failure. */
export async function check(subject: Subject): Promise<Results> {
  const library = await attempt(() => install(subject, 'library'))
  const inLibrary = (action: () => Promise<Result>) =>
    library.state === 'passed' ? attempt(action) : notRun('it was not installed')
  const decide = await inLibrary(() => decides(subject))
  const ask = await inLibrary(() => asks(subject))

  const server = await attempt(() => install(subject, 'server'))
  const inServer = (action: () => Promise<Result>) => {
    const { sqlite } = subject
    if (sqlite !== undefined && 'missing' in sqlite) return notRun(sqlite.missing)
    return server.state === 'passed' ? attempt(action) : notRun('it was not installed')
  }
  const serve = await inServer(() => serves(subject, []))
  const serveNode = await inServer(() => serves(subject, ['--transport', 'node']))
  return { install: library.state === 'passed' ? server : library, decide, ask, serve, serveNode }
}

const passed = (text: string): Result => ({ state: 'passed', text })

const notRun = (reason: string): Result => ({ state: 'not run', text: 'not run', reason })

async function attempt(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { state: 'failed', text: 'failed', reason: error.message }
  }
}

type ProjectName = 'library' | 'server'

function placeOf({ folder, node }: Subject, name: ProjectName): Place {
  return { folder: join(folder, name), path: join(node.folder, 'bin') }
}

/** An empty project, and the unpublished tarballs. */
async function install(subject: Subject, name: ProjectName): Promise<Result> {
  const { folder, path } = placeOf(subject, name)
  const local = packagesFromFiles(packagesDir)
  const { sqlite } = subject
  const dependencies =
    name === 'library'
      ? { [own.name]: local[own.name] }
      : { [serverName]: `file:${tarballsIn(packagesDir).server}` }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'project', private: true, dependencies, overrides: local }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'app.mjs'), program)
  const npm = ['node', join(subject.npm, 'bin', 'npm-cli.js'), ...npmInstall]
  const startMs = performance.now()
  const { status, output } = await subject.tree.run({ folder, path }, npm)
  if (status !== 0) throw new Failure(`npm install ended with ${status}: ${lastLine(output)}`)
  if (name === 'server' && sqlite !== undefined && 'folder' in sqlite) {
    const to = join(folder, 'node_modules', 'better-sqlite3', 'build')
    cpSync(join(sqlite.folder, 'build'), to, { recursive: true })
  }
  return passed(`${Math.round((performance.now() - startMs) / 1000)} s`)
}

async function decides(subject: Subject): Promise<Result> {
  const place = placeOf(subject, 'library')
  const { status, stdout, output } = await subject.tree.run(place, ['node', 'app.mjs'])
  const found = answer.exec(stdout)
  if (status !== 0 || found === null) throw new Failure(`status ${status}: ${lastLine(output)}`)
  return passed(Number(found[1]).toFixed(4))
}

async function asks(subject: Subject): Promise<Result> {
  const place = placeOf(subject, 'library')
  const ask = [join('node_modules', '.bin', 'oi'), 'ask', state, '--noul', question.instructions]
  const { status, output } = await subject.tree.run(place, ask)
  if (status !== 0) throw new Failure(`status ${status}: ${lastLine(output)}`)
  return passed('yes')
}

/** One server from its start to its end, with one request; the cell says what served it. */
async function serves(subject: Subject, flags: readonly string[]): Promise<Result> {
  const place = placeOf(subject, 'server')
  rmSync(join(place.folder, 'data'), { recursive: true, force: true })
  const serve = ['serve', '--port', '0', '--data-dir', 'data', '--threads', '1', ...flags]
  const child = subject.tree.start(place, [join('node_modules', '.bin', 'oi'), ...serve])
  const end: { outcome?: Outcome } = {}
  const ended = outcomeOf(child).then((outcome) => (end.outcome = outcome))
  try {
    let said = ''
    child.stdout.on('data', (data) => (said += data))
    const isReady = () => /^Ready$/m.test(said)
    await holdsWithin(patienceMs, () => isReady() || end.outcome !== undefined)
    if (!isReady()) throw new Failure(`not ready: ${lastLine(end.outcome?.output ?? said)}`)
    const [, url, by] = /^Listening on (\S+) \((.+)\)$/m.exec(said)!
    const key = /^ {2}(\S+)$/m.exec(said)![1]!
    const probability = await request(url!, key, 'money')
    // A transport may write text that is not ASCII in another encoding than it declares.
    await request(url!, key, 'größe')
    child.kill('SIGINT')
    const { status, output } = await ended
    if (status !== 0) throw new Failure(`stopped, it ended with ${status}: ${lastLine(output)}`)
    const [name, reason] = by!.split(', as ')
    const result = passed(`${name!}, ${probability.toFixed(4)}`)
    return reason === undefined ? result : { ...result, reason }
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** @param name - The question's name. */
async function request(origin: string, key: string, name: string): Promise<number> {
  const reply = await fetch(`${origin}/v1/systemone`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ state, questions: { [name]: question } }),
    signal: AbortSignal.timeout(patienceMs),
  })
  const text = await reply.text()
  const found = answer.exec(text.replace(name, 'money'))
  if (reply.status !== 200 || found === null) throw new Failure(`answered ${reply.status}: ${text}`)
  return Number(found[1])
}

/** The part that fits into a table. */
function lastLine(output: string): string {
  const lines = output.split('\n').filter((line) => !/^\s*$|A complete log of this run/.test(line))
  return (lines.at(-1) ?? 'it said nothing').trim().slice(0, 300)
}
