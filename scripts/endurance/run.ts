/**
 * One endurance run: clients, disturbances and restarts at the same time, then the audit.
 *
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../test/helpers/random.js'
import { median } from '../bench/stats.js'
import { auditBooks, createWorkspace, setPrice } from './accounts.js'
import {
  batchClient,
  halfClosedClient,
  leavingClient,
  loop,
  steadyClient,
  tricklingClient,
  type Turn,
  type World,
  wrongBodyClient,
  wrongKeyClient,
} from './clients.js'
import { holdLock, holdReader, MovableClock, SmallDisk } from './disturbances.js'
import { HealthProbe } from './health.js'
import { Subject } from './subject.js'
import { Tally } from './tally.js'

export interface RunOptions {
  /** Folder for everything of the run. */
  readonly folder: string
  readonly minutes: number
  readonly restartMinutes: number
  readonly seed: number
  readonly port: number
}

const diskMebibytes = 48
const model = 'oi-small'
/** Limit for /healthz, under all disturbances. */
const mostHealthMs = 50
/**
 * Resident memory at the end of a life against its middle, and of late lives against early ones.
 */
const mostGrowth = 1.1
const progressMs = 60_000

/** @returns How many violations there were. */
export async function run(options: RunOptions): Promise<number> {
  const { folder, minutes, restartMinutes, seed, port } = options
  using disk = new SmallDisk(join(folder, 'data'), diskMebibytes)
  const dataDir = disk.folder
  const tally = new Tally()
  const random = createRandom(seed)
  const clock = new MovableClock(join(folder, 'clock'))
  const subject = new Subject({
    port,
    dataDir,
    flags: ['--log', 'requests', '--host-cache-mb', '16'],
    environment: { ...clock.environment, XDG_STATE_HOME: join(folder, 'state') },
    onUnaskedEnd: (how, log) => tally.violate(`the server ended by itself (${how}):\n${log}`),
  })

  // The first start makes the accounts; then all workspaces are made at once.
  await subject.start()
  await subject.stop()
  const create = (name: string, charged = true) => createWorkspace(dataDir, name, charged)
  const steady = create('steady')
  const batches = create('batches')
  const slow = create('slow')
  const leaving = create('leaving')
  const free = create('free', false)
  const workspaces = [steady, batches, slow, leaving, free]
  setPrice(dataDir, model)
  await subject.start()

  const endMs = performance.now() + minutes * 60_000
  let failed = false
  const over = () => failed || performance.now() >= endMs
  const world: World = { port, tally, random, words: 80, over }
  const health = new HealthProbe(port)
  const memory: LifeMemory[] = []
  const clients: readonly (readonly [turn: Turn, pauseMs: number])[] = [
    ...times(6, () => [steadyClient(world, 'steady', steady), 5] as const),
    ...times(2, () => [steadyClient(world, 'free', free), 10] as const),
    ...times(2, () => [batchClient(world, 'batches', batches), 50] as const),
    ...times(2, () => [wrongKeyClient(world, 'wrong keys'), 50] as const),
    [wrongBodyClient(world, 'wrong bodies', steady.key), 50],
    ...times(3, () => [leavingClient(world, 'leaving', leaving), 10] as const),
    ...times(3, () => [tricklingClient(world, 'trickling', slow), 50] as const),
    ...times(2, () => [halfClosedClient(world, 'half-closed', steady), 20] as const),
  ]
  const report = () => say(tally.lines())
  const progress = setInterval(report, progressMs)
  try {
    await Promise.all([
      ...clients.map(([turn, pauseMs]) => loop(world, turn, pauseMs)),
      disturb(world, random, { disk, dataDir, clock, subject }),
      restart(world, { subject, health, tally, memory, restartMinutes }),
    ])
  } catch (error) {
    // Otherwise the others would go on for the rest of the hour.
    failed = true
    throw error
  } finally {
    clearInterval(progress)
  }
  await health.stop()
  const { how, ms } = await subject.stop()
  if (how !== '0') tally.violate(`the server ended with ${how} in ${ms.toFixed(0)} ms`)
  report()
  // The next start takes in bookings that could not be written at that end.
  await subject.start()
  await subject.stop()
  return conclude(dataDir, workspaces, tally, health, memory)
}

interface Disturbed {
  readonly disk: SmallDisk
  readonly dataDir: string
  readonly clock: MovableClock
  readonly subject: Subject
}

/** One disturbance after another, with pauses between them in which all must be well again. */
async function disturb(
  { over, tally }: World,
  random: Random,
  { disk, dataDir, clock, subject }: Disturbed,
): Promise<void> {
  const upTo = (seconds: number) => 1000 * (1 + random.integer(seconds))
  const disturbances: Readonly<Record<string, () => Promise<void>>> = {
    'disk full': () => disk.fill(upTo(10)),
    'lock held': () => holdLock(dataDir, upTo(8)),
    'reader held': () => holdReader(dataDir, upTo(30)),
    'log not read': () => subject.ignoreLog(upTo(20)),
    'log reader gone': async () => subject.loseLog(),
    'clock moved': async () => {
      clock.move((random.next() < 0.5 ? -1 : 1) * random.pick([90, 3700, 90_000]))
      await sleep(upTo(15))
      clock.move(0)
    },
  }
  while (!over()) {
    const name = random.pick(Object.keys(disturbances))
    tally.see('disturbances', name)
    await disturbances[name]!()
    await sleep(upTo(10))
  }
}

/** Resident bytes of one process. */
interface LifeMemory {
  readonly middle: number
  readonly end: number
}

interface Restarted {
  readonly subject: Subject
  readonly health: HealthProbe
  readonly tally: Tally
  /** Collects the memory of each life. */
  readonly memory: LifeMemory[]
  readonly restartMinutes: number
}

async function restart(
  { over }: World,
  { subject, health, tally, memory, restartMinutes }: Restarted,
): Promise<void> {
  for (;;) {
    const lifeMs = restartMinutes * 60_000
    const endMs = performance.now() + lifeMs
    let middle: number | undefined
    while (performance.now() < endMs) {
      if (over()) return
      await sleep(200)
      if (performance.now() > endMs - lifeMs / 2) middle ??= subject.residentBytes()
    }
    const end = subject.residentBytes()
    if (middle !== undefined && end !== undefined) memory.push({ middle, end })
    health.pause()
    const { how, ms } = await subject.stop()
    tally.see('restarts', `exit ${how}`)
    if (how !== '0')
      tally.violate(`SIGTERM ended with ${how} in ${ms.toFixed(0)} ms\n${subject.log}`)
    await subject.start()
    health.resume()
  }
}

function conclude(
  dataDir: string,
  workspaces: Parameters<typeof auditBooks>[1],
  tally: Tally,
  health: HealthProbe,
  memory: readonly LifeMemory[],
): number {
  const { lines, wrong } = auditBooks(dataDir, workspaces, tally)
  for (const what of wrong) tally.violate(what)
  if (health.quantile(0.999) > mostHealthMs) tally.violate(healthLine(health))
  for (const [end, count] of health.failures) tally.violate(`/healthz: ${count} times ${end}`)
  const third = Math.ceil(memory.length / 3)
  const ends = memory.map(({ end }) => end)
  const within = median(memory.map(({ middle, end }) => end / middle))
  const between = median(ends.slice(-third)) / median(ends.slice(0, third))
  if (within > mostGrowth) tally.violate('resident memory grows within a life')
  if (between > mostGrowth) tally.violate('resident memory grows from life to life')
  const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)
  const held = memory.map(({ middle, end }) => `${mebibytes(middle)} to ${mebibytes(end)}`)
  say([
    ...[...lines, healthLine(health)],
    `resident memory from the middle to the end of each life, MiB: ${held.join(', ')}`,
  ])
  say([`${tally.violationCount} violations`, ...tally.violationLines()])
  return tally.violationCount
}

function healthLine(health: HealthProbe): string {
  const ms = [0.5, 0.99, 0.999, 1].map((share) => health.quantile(share).toFixed(1))
  return `/healthz: ${health.count} answers, ms at p50, p99, p99.9, most: ${ms.join(', ')}`
}

function say(lines: readonly string[]): void {
  console.log(`${new Date().toISOString()}\n  ${lines.join('\n  ')}`)
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}
