/**
 * The process of one model is ended again and again, by each signal in turn; sometimes the next one
 * too, while it loads the model.
 *
 * For this model every request is answered with 200, 429 or 503, and another process begins within
 * a second at the median; the other model is not affected.
 *
 * Linux: the models' processes are found in /proc.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { runnersOf } from '../../bench/proc.js'
import { median } from '../../bench/stats.js'
import type { Kind } from '../kind.js'
import type { World } from '../world.js'

const signals = ['SIGABRT', 'SIGSEGV', 'SIGKILL', 'SIGSTOP'] as const
/** From a kill to the next process. */
const mostLateMs = 1000
/** Until the next answer, however busy the machine is. */
const longestMs = 60_000

interface Recovery {
  /** The next process. */
  readonly pid: number
  readonly signal: NodeJS.Signals
  /** From the kill to the next process. */
  readonly lateMs: number
  /** From the kill to an answer of the model. */
  readonly ms: number
}

export const kill: Kind = {
  says: 'ends the process of a model by SIGABRT, SIGSEGV, SIGKILL and SIGSTOP',
  lacks: () => (process.platform === 'linux' ? undefined : '/proc'),
  prepare: (world) => {
    const recoveries: Recovery[] = []
    let count = 0
    let pid = 0
    return {
      strike: async () => {
        const signal = signals[count % signals.length]!
        const present = runnersOf(world.server.pid!)
        // The default model is loaded first.
        if (!present.includes(pid)) pid = present[0]!
        const isTwice = count++ % 5 === 4
        const recovery = await killFirst(world, pid, signal, isTwice)
        pid = recovery.pid
        // The process behind two ends comes later.
        if (!isTwice) recoveries.push(recovery)
      },
      judge: () => signals.flatMap((signal) => judge(world, signal, recoveries)),
    }
  },
}

async function killFirst(
  world: World,
  pid: number,
  signal: NodeJS.Signals,
  isTwice: boolean,
): Promise<Recovery> {
  const { server, tally } = world
  const present = () => runnersOf(server.pid!)
  const others = present().filter((other) => other !== pid)
  const before = new Map(tally.seenBy('second model'))
  const startMs = performance.now()
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (performance.now() > startMs + longestMs) throw new Error(`Nothing after ${signal}`)
      await sleep(2)
    }
  }
  const gone = new Set([pid, ...others])
  const next = () => until(() => present().find((each) => !gone.has(each)))
  process.kill(pid, signal)
  let nextPid = await next()
  const lateMs = performance.now() - startMs
  if (isTwice) {
    gone.add(nextPid)
    process.kill(nextPid, signal)
    nextPid = await next()
  }
  // Answers of the process that was killed may still arrive.
  await world.heal(signal)
  const answered = () => tally.seenBy('first model').get('200')
  const count = answered()
  await until(() => (answered() === count ? undefined : true))
  const left = others.filter((other) => !present().includes(other)).length
  if (left > 0) tally.violate(`${left} other processes have ended too`)
  for (const [what, count] of tally.seenBy('second model')) {
    if (what === '200' || count === before.get(what)) continue
    tally.violate(`the other model answered ${what} while ${signal} ended the first one's process`)
  }
  return { pid: nextPid, signal, lateMs, ms: performance.now() - startMs }
}

function judge(
  { tally, slowness }: World,
  signal: NodeJS.Signals,
  recoveries: readonly Recovery[],
): readonly string[] {
  const ended = recoveries.filter((recovery) => recovery.signal === signal)
  if (ended.length === 0) return []
  const late = median(ended.map(({ lateMs }) => lateMs))
  if (late > slowness * mostLateMs)
    tally.violate(`${signal}: the next process after ${whole(late)} ms`)
  const ms = ended.map((recovery) => recovery.ms)
  return [
    `${signal.padEnd(14)} ${ended.length} times, the next process after ${whole(late)} ms at the ` +
      `median, an answer after ${whole(median(ms))}, ${whole(Math.max(...ms))} at most`,
  ]
}

const whole = (ms: number) => ms.toFixed(0)
