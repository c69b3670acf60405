/**
 * The prices of each model's tokens. A model without a price is free.
 *
 * All prices are in memory: every answer needs one, and there are as many as models.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { Changes } from '../changes.js'
import { type Connection, execute, isInGrace, selectAll } from '../store/connection.js'
import { free, maxPrice, type Price, showCredits } from './money.js'

export interface ModelPrice extends Price {
  /** The model's name in `GET /v1/models` and in answers. */
  readonly model: string
}

const maxModelLength = 200

export class Prices {
  readonly #db: Connection
  readonly #changes: Changes
  #byModel = new Map<string, Price>()
  #readAt = -1

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /** The prices that were set, by the models' names. */
  list(): ModelPrice[] {
    const sql = 'SELECT model, input, output, image FROM prices ORDER BY model'
    return selectAll<ModelPrice>(this.#db, sql)
  }

  /**
   * Reads the prices again if they may have changed.
   *
   * @throws {@link OiError} `ERR_OVERLOADED` if they cannot be read.
   */
  refresh(): void {
    const { count } = this.#changes
    if (this.#readAt === count) return
    try {
      this.#byModel = new Map(this.list().map((price) => [price.model, price]))
      this.#readAt = count
    } catch (error) {
      if (this.#readAt < 0 || !isInGrace(this.#db)) throw error
    }
  }

  /** The price at the last {@link refresh}. Never throws. */
  of(model: string): Price {
    return this.#byModel.get(model) ?? free
  }

  /**
   * Sets a model's price for all later answers; what is left out stays as it is.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if a price is not a whole number from 0 to
   *   {@link maxPrice}, or the name is empty or too long.
   */
  set(model: string, price: { readonly [Part in keyof Price]?: number | undefined }): ModelPrice {
    if (model === '' || model.length > maxModelLength) {
      throw new OiError('ERR_ACCOUNTS', `A model's name has 1 to ${maxModelLength} characters`)
    }
    const known = this.list().find((other) => other.model === model) ?? free
    const next = {
      model,
      input: price.input ?? known.input,
      output: price.output ?? known.output,
      image: price.image ?? known.image,
    }
    for (const part of ['input', 'output', 'image'] as const) {
      const amount = next[part]
      if (!Number.isSafeInteger(amount) || amount < 0 || amount > maxPrice) {
        throw new OiError(
          'ERR_ACCOUNTS',
          `${part}: expected a price from 0 to ${showCredits(maxPrice)} credits per million tokens`,
        )
      }
    }
    const sql = `INSERT INTO prices (model, input, output, image) VALUES (?, ?, ?, ?)
      ON CONFLICT (model) DO UPDATE
      SET input = excluded.input, output = excluded.output, image = excluded.image`
    execute(this.#db, sql, next.model, next.input, next.output, next.image)
    this.#changes.mark()
    return next
  }
}
