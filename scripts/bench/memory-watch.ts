/**
 * Resident memory of a server while it works, and its growth.
 *
 * Sampled all the time, because a single sample says more about the garbage collector than about
 * the server. Compared are medians of whole tenths of the time, the last against the second. In the
 * first, which is left out, caches fill and code is compiled.
 *
 * @module
 */

import type { Figures } from './figure.js'
import { residentBytes } from './proc.js'
import { median } from './stats.js'

const intervalMs = 100

export class MemoryWatch implements Disposable {
  readonly #pid: number
  readonly #timer: NodeJS.Timeout
  readonly #samples: number[] = []

  /** Begins to watch. Only where {@link hasProc}. */
  constructor(pid: number) {
    this.#pid = pid
    this.#sample()
    this.#timer = setInterval(() => this.#sample(), intervalMs)
  }

  /** Figures for {@link addMemory}. */
  values(): Record<string, number> {
    const [early, late] = tenths(this.#samples)
    return {
      [names.early]: early / 2 ** 20,
      [names.late]: late / 2 ** 20,
      [names.growth]: (late / early - 1) * 100,
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    this.#samples.push(residentBytes(this.#pid))
  }
}

const names = {
  early: 'resident memory, second tenth',
  late: 'resident memory, last tenth',
  growth: 'resident memory, growth',
}

export function addMemory(figures: Figures): void {
  figures.add(names.early, 'MiB')
  figures.add(names.late, 'MiB')
  figures.add(names.growth, '%', { atMost: 1 })
}

/** Medians of the second and the last tenth of a series that is not empty. */
export function tenths(samples: readonly number[]): [early: number, late: number] {
  const tenth = Math.max(1, Math.floor(samples.length / 10))
  const start = Math.min(tenth, samples.length - 1)
  return [median(samples.slice(start, start + tenth)), median(samples.slice(-tenth))]
}
