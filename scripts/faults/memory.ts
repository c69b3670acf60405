/**
 * Memory and handles of the server during a run, whose processes come and go.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openHandles } from '../bench/proc.js'
import { median } from '../bench/stats.js'
import { holdsWithin } from '../wait.js'
import type { Server } from './server.js'
import type { World } from './world.js'

const everyMs = 1000
/** In which the server loads its caches, and V8 its heap. */
const warmUpMs = 120_000
/** Within which connections of clients that are gone must be closed. */
const settleMs = 15_000

export class Memory {
  readonly #server: Server
  readonly #samples: { readonly atMs: number; readonly bytes: number }[] = []
  /** Open handles of the server's own process, before the first client and behind the last. */
  readonly handlesBefore: number
  handlesLeft = 0

  constructor(server: Server) {
    this.#server = server
    this.handlesBefore = openHandles(server.pid!)
  }

  /** Samples until the end; the server may be away. */
  async watch({ over }: World): Promise<void> {
    while (!over()) {
      const bytes = this.#server.residentBytes()
      if (bytes !== undefined) this.#samples.push({ atMs: performance.now(), bytes })
      await sleep(everyMs)
    }
  }

  /** Waits until no more handles are open than before, or some seconds. */
  async settle(): Promise<void> {
    const left = () => openHandles(this.#server.pid!) - this.handlesBefore
    await holdsWithin(settleMs, () => (this.handlesLeft = left()) <= 0, 100)
  }

  /**
   * Medians of thirds of the run behind its warm-up, bytes: processes that were just started are
   * small, and a median does not see them. Undefined for a short run.
   */
  get thirds(): readonly number[] | undefined {
    const startMs = (this.#samples[0]?.atMs ?? 0) + warmUpMs
    const bytes = this.#samples.filter(({ atMs }) => atMs > startMs).map(({ bytes }) => bytes)
    const size = Math.floor(bytes.length / 3)
    if (size < warmUpMs / everyMs / 2) return undefined
    return [0, 1, 2].map((i) => median(bytes.slice(i * size, (i + 1) * size)))
  }
}
