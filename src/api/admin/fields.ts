/**
 * Fields that several schemas of the admin API have.
 *
 * @module
 */

import Type from 'typebox'

/** A point in time; what is sent may have any offset, what is answered is in UTC. */
export const time = (description: string) => Type.String({ format: 'date-time', description })

export const timeOrNull = (description: string) =>
  Type.Union([time(description), Type.Null()], { description })

export const count = (description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 0, maximum, description })

export const id = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description })

/** Money: whole millionths of a credit. */
export const amount = (description: string) =>
  Type.Integer({ minimum: -999_999_999_999_999, maximum: 999_999_999_999_999, description })

/** Names are shown in tables and logs: 1 to 100 printable characters. */
export const name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, description })

/** Unknown members are refused: a change that was misspelled must not look as if it were made. */
export const strict = { additionalProperties: false } as const

/** What an answer was made of, as the ledger and the usage have it. */
export const tokenFields = {
  input_tokens: count('Those of images and those from a cache included.'),
  output_tokens: count('Of the serialised answers.'),
  image_tokens: count('Of the images.'),
  cached_tokens: count('Those of the input that had been read before.'),
}
