/**
 * Changes of models that take a while: shown as long as they run.
 *
 * @module
 */

import type { ReplyOf } from '../api/admin/operations.js'
import { timeText } from './present.js'
import type { OnProgress } from './socket/operations.js'

type Entry = ReplyOf<'listModels'>['under_way'][number]
export type Action = Entry['action']

export class UnderWay {
  readonly #entries = new Set<Entry>()

  list(): Entry[] {
    return [...this.#entries]
  }

  /** Runs a change, and shows it until it ends. */
  async during<T>(
    action: Action,
    target: string,
    change: (onProgress: OnProgress) => Promise<T>,
  ): Promise<T> {
    const entry = { action, target, started_at: timeText(Date.now()), progress: '' }
    this.#entries.add(entry)
    try {
      return await change((progress) => (entry.progress = progress))
    } finally {
      this.#entries.delete(entry)
    }
  }
}
