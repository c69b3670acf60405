/**
 * A server of two models under load, and the process of one of them is ended again and again.
 *
 * For the killed model: every request is answered with 200, 429 or 503, and it answers again after
 * at most a second, plus the time to load it and that of an answer. The other model is not
 * affected. The ledger matches the answers, and no process is left over, not even when the server
 * is killed.
 *
 * Linux: the models' processes are found in /proc.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../test/helpers/random.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { childrenOf } from '../bench/proc.js'
import { median } from '../bench/stats.js'
import { auditBooks, createWorkspace, setPrice, type Workspace } from '../endurance/accounts.js'
import { loop, steadyClient, type Turn, type World } from '../endurance/clients.js'
import { Subject } from '../endurance/subject.js'
import { Tally } from '../endurance/tally.js'

export interface KillOptions {
  /** Folder for everything of the run. */
  readonly folder: string
  readonly port: number
  readonly times: number
  readonly clients: number
  readonly seed: number
}

export interface KillReport {
  /** For people. */
  readonly lines: readonly string[]
  /** Violations, in words; empty if all is well. */
  readonly violations: readonly string[]
}

const signals = ['SIGABRT', 'SIGSEGV', 'SIGKILL', 'SIGSTOP'] as const
/** Between an answer of the new process and the next kill, at most. */
const pauseMs = 1500
/** Beyond the time to load it, and that of an answer. */
const mostLateMs = 1000
/** Time in which an unneeded process must end by itself. */
const orphanMs = 10_000
/** However busy the machine is. */
const longestMs = 60_000

export async function run(options: KillOptions): Promise<KillReport> {
  const { folder, port, times, clients, seed } = options
  const dataDir = join(folder, 'data')
  const tally = new Tally()
  const subject = await startServer(options, dataDir, tally)
  const workspaces = ['victim', 'other'].map((name) => createWorkspace(dataDir, name, true))
  const cut = createWorkspace(dataDir, 'cut', false)
  for (const { name } of workspaces) setPrice(dataDir, name)
  const [victim, other] = workspaces as [Workspace, Workspace]

  const random = createRandom(seed)
  let isOver = false
  const over = () => isOver
  const worldOf = (model: string): World => ({ port, tally, random, words: 60, model, over })
  const answers = { victim: [] as Answer[], other: [] as Answer[] }
  const client = (workspace: Workspace, seen: Answer[]) => {
    const world = worldOf(workspace.name)
    return loop(world, timed(steadyClient(world, workspace.name, workspace), seen), 0)
  }
  const half = Math.ceil(clients / 2)
  const loops = [
    ...many(half, () => client(victim, answers.victim)),
    ...many(half, () => client(other, answers.other)),
  ]
  // The victim is the default model, which is loaded first.
  const keptPid = childrenOf(subject.pid!)[1]!
  const pids = new Set(childrenOf(subject.pid!))
  const recoveries: Recovery[] = []
  for (let i = 0; i < times; i++) {
    await sleep(random.integer(pauseMs))
    const signal = signals[i % signals.length]!
    recoveries.push(await kill(subject, keptPid, signal, answers))
    for (const pid of childrenOf(subject.pid!)) pids.add(pid)
  }
  const { ms: twiceMs } = await kill(subject, keptPid, 'SIGKILL', answers, true)
  isOver = true
  await Promise.all(loops)

  if (!childrenOf(subject.pid!).includes(keptPid)) tally.violate('the other process has ended too')
  const { how } = await subject.stop()
  if (how !== '0') tally.violate(`SIGTERM ended with ${how}`)
  await requireNone(pids, 'SIGTERM', tally)
  await killServer(subject, worldOf('victim'), cut, tally)
  // The next start takes in bookings that could not be made at that end.
  await subject.start()
  await subject.stop()
  return conclude({ dataDir, tally, workspaces, recoveries, twiceMs, calm: answers.other })
}

async function startServer(
  { folder, port }: KillOptions,
  dataDir: string,
  tally: Tally,
): Promise<Subject> {
  const config = join(folder, 'oi.json')
  const models = ['victim', 'other'].map((name) => ({ file: defaultModelPath, name }))
  writeFileSync(config, JSON.stringify({ models, hostCacheMb: 16, drainMs: 0 }))
  const subject = new Subject({
    port,
    dataDir,
    flags: ['--config', config],
    environment: {},
    onUnaskedEnd: (how, log) => tally.violate(`the server ended by itself (${how}):\n${log}`),
  })
  await subject.start()
  return subject
}

interface Answer {
  /** When it arrived. */
  readonly atMs: number
  /** How long it took. */
  readonly ms: number
}

function timed(turn: Turn, seen: Answer[]): Turn {
  return async () => {
    const startMs = performance.now()
    await turn()
    const atMs = performance.now()
    seen.push({ atMs, ms: atMs - startMs })
  }
}

interface Recovery {
  readonly signal: NodeJS.Signals
  /** From the kill to the first answer of the new process. */
  readonly ms: number
  readonly loadMs: number
  /** The slowest answer of the other model meanwhile. */
  readonly besideMs: number
}

/** @param isTwice - Whether the new process is killed too, while it loads the model. */
async function kill(
  subject: Subject,
  keptPid: number,
  signal: NodeJS.Signals,
  { victim: answers, other }: Readonly<Record<'victim' | 'other', readonly Answer[]>>,
  isTwice = false,
): Promise<Recovery> {
  const victimPid = () => childrenOf(subject.pid!).find((each) => each !== keptPid)
  const pid = victimPid()!
  const startMs = performance.now()
  process.kill(pid, signal)
  const wait = async () => {
    if (performance.now() > startMs + longestMs) throw new Error(`Nothing after ${signal}`)
    await sleep(2)
  }
  const before = lastLoad(subject.log)?.pid
  if (isTwice) {
    while ([pid, undefined].includes(victimPid())) await wait()
    process.kill(victimPid()!, signal)
  }
  while (lastLoad(subject.log)?.pid === before) await wait()
  const count = answers.length
  while (answers.length === count) await wait()
  const { atMs } = answers[count]!
  const beside = other.filter((answer) => answer.atMs > startMs && answer.atMs < atMs)
  const besideMs = Math.max(0, ...beside.map(({ ms }) => ms))
  return { signal, ms: atMs - startMs, loadMs: lastLoad(subject.log)!.loadMs, besideMs }
}

/** Of the last process that replaced another. */
function lastLoad(log: string): { pid: string; loadMs: number } | undefined {
  const found = [...log.matchAll(/is back, process (\d+), loaded in (\d+) ms/g)].at(-1)
  return found && { pid: found[1]!, loadMs: Number(found[2]) }
}

/**
 * Kills the server under load: its models' processes must end by themselves. Its clients' replies
 * and their workspace's ledger are not checked.
 */
async function killServer(
  subject: Subject,
  world: World,
  workspace: Workspace,
  tally: Tally,
): Promise<void> {
  await subject.start()
  const pids = new Set(childrenOf(subject.pid!))
  if (pids.size !== 2) tally.violate(`${pids.size} processes for two models`)
  let isOver = false
  const uncounted = { ...world, tally: new Tally(), over: () => isOver }
  const loops = many(8, () => loop(uncounted, steadyClient(uncounted, 'cut', workspace), 0))
  await sleep(300)
  await subject.stop('SIGKILL')
  await requireNone(pids, 'SIGKILL', tally)
  isOver = true
  await Promise.all(loops)
}

async function requireNone(pids: ReadonlySet<number>, signal: string, tally: Tally): Promise<void> {
  const endMs = performance.now() + orphanMs
  let left = [...pids]
  do {
    left = left.filter(isThere)
    if (left.length === 0) return
    await sleep(20)
  } while (performance.now() < endMs)
  tally.violate(`${left.length} processes are left over after ${signal}`)
  for (const pid of left) process.kill(pid, 'SIGKILL')
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

interface Seen {
  readonly dataDir: string
  readonly tally: Tally
  readonly workspaces: readonly Workspace[]
  readonly recoveries: readonly Recovery[]
  /** After a process was killed, and the next one while it loaded the model. */
  readonly twiceMs: number
  /** Times of requests to the other model. */
  readonly calm: readonly Answer[]
}

function conclude({ dataDir, tally, workspaces, recoveries, twiceMs, calm }: Seen): KillReport {
  const books = auditBooks(dataDir, workspaces, tally)
  for (const what of books.wrong) tally.violate(what)
  for (const { name } of workspaces) {
    if (tally.of(name).unknown > 0) tally.violate(`${name}: requests without a whole reply`)
  }
  const allowed = { victim: ['200', '429', '503'], other: ['200'] }
  for (const [kind, statuses] of Object.entries(allowed)) {
    for (const [what, count] of tally.seenBy(kind)) {
      if (!statuses.includes(what)) tally.violate(`${kind}: ${count} times ${what}`)
    }
  }
  const lines = signals.flatMap((signal) => {
    const ended = recoveries.filter((recovery) => recovery.signal === signal)
    if (ended.length === 0) return []
    // The first answer takes as long as any answer on this machine: that is not part of the outage.
    const late = ended
      .map(({ ms, loadMs, besideMs }) => ms - loadMs - besideMs)
      .toSorted((a, b) => a - b)
    const lateMs = late[(late.length - 1) >> 1]!
    if (lateMs > mostLateMs) tally.violate(`${signal}: ${whole(lateMs)} ms late at the median`)
    const [ms, loadMs] = [ended.map(({ ms }) => ms), ended.map(({ loadMs }) => loadMs)]
    return [
      `${signal.padEnd(14)} ${ended.length} times, answered again after ${whole(median(ms))} ms at ` +
        `the median, ${whole(Math.max(...ms))} at most; loaded in ${whole(median(loadMs))}; ` +
        `the other model's slowest answer meanwhile ${whole(median(ended.map(({ besideMs }) => besideMs)))}`,
    ]
  })
  const calmMs = calm.map(({ ms }) => ms).toSorted((a, b) => a - b)
  return {
    lines: [
      ...[...tally.lines(), ...books.lines, ...lines],
      `killed again while it was loaded: answered after ${whole(twiceMs)} ms`,
      `the other model: ${whole(median(calmMs))} ms at the median, ` +
        `${whole(calmMs[Math.floor(0.99 * calmMs.length)]!)} at p99, ${whole(calmMs.at(-1)!)} at most`,
    ],
    violations: tally.violationLines(),
  }
}

const whole = (ms: number) => ms.toFixed(0)

function many<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}
