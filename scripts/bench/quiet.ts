/**
 * Whether the machine was undisturbed during a measurement.
 *
 * Three signs: time that the hypervisor took, time that other processes used, and a fixed loop that
 * should always take as long as at the start.
 *
 * @module
 */

import { hasProc, machineTime, treeTime } from './proc.js'

/** Shares of the time of all cores. */
const maxSteal = 0.01
const maxOthers = 0.03
/** Of the best speed of the fixed loop so far. */
const minPeak = 0.95

const loopMs = 50
/** The best of a few: an interrupt slows one of them, a busy machine all. */
const loopTries = 3

export class Quiet {
  readonly #loops: number
  #bestMs: number

  constructor() {
    this.#loops = calibrate()
    this.#bestMs = this.#loopMs()
  }

  /** Begins to watch. */
  watch(): Watch {
    const slow = this.#slowness()
    if (!hasProc) return { disturbance: () => slow ?? this.#slowness() }
    const own = treeTime(process.pid)
    const machine = machineTime()
    return {
      disturbance: () => {
        const after = machineTime()
        const total = after.total - machine.total
        const steal = (after.steal - machine.steal) / total
        const others =
          (after.busy - machine.busy - (treeTime(process.pid) - own)) / Math.max(total, 1e-9)
        if (steal > maxSteal) return `the hypervisor took ${percent(steal)} of the time`
        if (others > maxOthers) return `other processes used ${percent(others)} of the cores`
        return slow ?? this.#slowness()
      },
    }
  }

  #slowness(): string | undefined {
    const ms = this.#loopMs()
    this.#bestMs = Math.min(this.#bestMs, ms)
    const speed = this.#bestMs / ms
    return speed < minPeak ? `a fixed loop ran at ${percent(speed)} of its speed` : undefined
  }

  #loopMs(): number {
    return Math.min(...Array.from({ length: loopTries }, () => timed(this.#loops)))
  }
}

export interface Watch {
  /** Ends watching. @returns The disturbance in between, or undefined. */
  disturbance(): string | undefined
}

function calibrate(): number {
  let loops = 1_000_000
  // Twice, because the first passes are interpreted.
  for (let pass = 0; pass < 2; pass++) loops = Math.ceil((loops * loopMs) / timed(loops))
  return loops
}

function timed(loops: number): number {
  const startMs = performance.now()
  let state = 1
  for (let i = 0; i < loops; i++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
  // Read, so that the compiler cannot remove the loop.
  if (state === 0.5) throw new Error('unreachable')
  return performance.now() - startMs
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
