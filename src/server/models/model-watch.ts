/**
 * Notices models that can no longer be trusted, and loads them again: the file was changed under
 * the running server, or the numbers of several requests in a row were not finite.
 *
 * Rules
 *   1. A file that was written into: its weights in memory may have changed with it, so the model
 *      answers nothing from then on. A file that is gone (renamed, removed), or that another one has
 *      taken the place of, is still whole in memory: its model answers until a new one is ready.
 *   2. A file is opened when two looks have seen the same, so not while it is being written. One
 *      that cannot be opened is tried again when it has changed again.
 *   3. Numbers that are not finite are the fault of a single request, or, several times in a row
 *      without an answer between, of the model. As a caller may know such a request, the model is
 *      loaded again for that at intervals only.
 *   4. One look at a time: on a mount that hangs, each would hold one of the few threads for files.
 *
 * @module
 */

import { lookAtFiles } from '../../models/model-files.js'
import type { ModelChanges } from './model-changes.js'
import type { ModelSlot } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'

interface ModelWatchOptions {
  readonly slots: ModelSlots
  readonly changes: Pick<ModelChanges, 'replace'>
  /** Takes a sentence for the operator. */
  readonly warn: (text: string) => void
  /** Time between two looks, milliseconds. Default 1000. */
  readonly everyMs?: number
}

/** Rule 3. */
const mostNotFinite = 3
const notFiniteEveryMs = 60_000

/** What is known of a slot's model. Contents as in {@link FilesSeen}. */
interface Known {
  /** Of the last look. */
  seen: string | undefined
  /** What could not be opened. */
  tried: string | undefined
  /** When it was last loaded again by rule 3. */
  notFiniteMs: number
  reloading: boolean
}

export class ModelWatch {
  readonly #options: ModelWatchOptions
  readonly #known = new WeakMap<ModelSlot, Known>()
  readonly #timer: NodeJS.Timeout
  #looking = false

  /** Begins to look. */
  constructor(options: ModelWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#lookAtAll(), options.everyMs ?? 1000).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Never rejects. */
  async #lookAtAll(): Promise<void> {
    const { slots } = this.#options
    if (this.#looking || slots.state() !== 'ready') return
    this.#looking = true
    for (const slot of slots.list) await this.#look(slot)
    this.#looking = false
  }

  async #look(slot: ModelSlot): Promise<void> {
    const { openedFrom, served } = slot
    const known = this.#of(slot)
    // Without these, it is loading.
    if (openedFrom === undefined || known.reloading || slot.next !== undefined) return
    const now = await lookAtFiles(slot.planned.config)
    // It was replaced meanwhile.
    if (slot.openedFrom !== openedFrom) return
    const isStable = now.content === known.seen
    known.seen = now.content
    if (now.content === openedFrom.content) {
      known.tried = undefined
      if (served?.unfit === undefined) return this.#lookAtNumbers(slot, known)
      served.unfit = undefined
      this.#say(slot, 'answers again: its file is as it was')
      return
    }
    if (now.missing !== undefined) {
      if (!isStable) this.#say(slot, 'has no file any more, and could not be loaded again')
      return
    }
    if (now.content === known.tried) return
    const reason = 'its file has changed'
    if (now.files === openedFrom.files) this.#spoil(slot, reason)
    if (isStable) this.#reload(slot, known, reason, now.content)
  }

  /** Rule 3. */
  #lookAtNumbers(slot: ModelSlot, known: Known): void {
    const engines = slot.served?.engines() ?? []
    const inRow = Math.max(0, ...engines.map(({ stats }) => stats.notFiniteInRow))
    const nowMs = performance.now()
    if (inRow < mostNotFinite || nowMs < known.notFiniteMs + notFiniteEveryMs) return
    known.notFiniteMs = nowMs
    const reason = `its numbers for ${inRow} requests in a row were not finite (NaN or infinity)`
    this.#spoil(slot, reason)
    this.#reload(slot, known, reason, undefined)
  }

  /** It answers nothing from now on. @param reason - For anybody. */
  #spoil(slot: ModelSlot, reason: string): void {
    const { served } = slot
    if (served === undefined || served.unfit?.reason === reason) return
    served.unfit = { reason, message: reason }
    this.#say(slot, `answers nothing until it is loaded again: ${reason}`)
  }

  /** @param content - Of its files. */
  #reload(slot: ModelSlot, known: Known, reason: string, content: string | undefined): void {
    const { slots, changes } = this.#options
    this.#say(slot, `is loaded again: ${reason}`)
    known.reloading = true
    changes
      .replace(slot.planned.name, () => {})
      .catch((error: Error) => {
        if (slots.state() !== 'ready' || !slots.list.includes(slot)) return
        known.tried = content
        const message = `${reason}, and it could not be loaded again: ${error.message}`
        if (slot.served !== undefined) slot.served.unfit = { reason, message }
        this.#say(slot, `answers nothing until its file changes: ${message}`)
      })
      .finally(() => {
        known.reloading = false
      })
  }

  #say(slot: ModelSlot, text: string): void {
    this.#options.warn(`The model ${slot.planned.name} ${text}`)
  }

  #of(slot: ModelSlot): Known {
    const known = this.#known.get(slot) ?? {
      ...{ seen: undefined, tried: undefined, notFiniteMs: -Infinity, reloading: false },
    }
    this.#known.set(slot, known)
    return known
  }
}
