/**
 * The results of a batch as they arrive.
 *
 * @module
 */

import { linesOf } from './lines.js'
import { readLine, requestIdOf, unexpected } from './reply.js'
import type { OpenReply } from './transport.js'
import type { BatchItem, BatchTotals } from './types.js'

/**
 * For one loop. The request is sent when the loop begins, and cancelled when the loop is left
 * early.
 */
export class BatchStream<Item = BatchItem> implements AsyncIterable<Item> {
  readonly #items: AsyncGenerator<Item, void, undefined>
  #totals: BatchTotals | undefined

  /** @param open - Sends the request. */
  constructor(open: () => Promise<OpenReply>) {
    this.#items = this.#read(open)
  }

  /** Undefined until the loop has ended. */
  get totals(): BatchTotals | undefined {
    return this.#totals
  }

  /** @throws {@link OiRequestError} In the loop; results yielded before it remain valid. */
  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return this.#items
  }

  async *#read(open: () => Promise<OpenReply>): AsyncGenerator<Item, void, undefined> {
    const { response, attempt } = await open()
    const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
    try {
      const read = async () => (await reader?.read()) ?? { done: true }
      for await (const line of linesOf(() => attempt.step(read))) {
        const fields = readLine(line, response)
        if ('index' in fields) yield fields as Item
        else this.#totals = fields as typeof fields & BatchTotals
      }
      if (this.#totals === undefined) {
        const details = { status: response.status, requestId: requestIdOf(response) }
        throw unexpected('totals in the last line', '', details)
      }
    } finally {
      // For a body that the signal does not cancel, such as one of the caller's own fetch.
      reader?.cancel().catch(() => {})
      attempt.end()
    }
  }
}
