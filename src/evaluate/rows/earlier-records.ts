/**
 * Records of an earlier run, looked up by line while the file with them is read once.
 *
 * @module
 */

import { InTurn } from '../../in-turn.js'

/**
 * Memory: the records that stand before the one asked for. They were written when rows finished, so
 * that those are few if lines are asked for in the order of the rows.
 */
export class EarlierRecords<Result extends { readonly line: number }> {
  readonly #records: AsyncIterator<Result, unknown, undefined>
  readonly #passed = new Map<number, Result>()
  readonly #turns = new InTurn()

  constructor(records: AsyncIterator<Result, unknown, undefined>) {
    this.#records = records
  }

  /** @param line - Of a record that is there; each is asked for once. */
  take(line: number): Promise<Result> {
    return this.#turns.run(() => this.#find(line))
  }

  async #find(line: number): Promise<Result> {
    const passed = this.#passed.get(line)
    if (passed !== undefined) {
      this.#passed.delete(line)
      return passed
    }
    for (;;) {
      const next = await this.#records.next()
      if (next.done) throw new Error(`no record of line ${line}`)
      if (next.value.line === line) return next.value
      this.#passed.set(next.value.line, next.value)
    }
  }
}
