/**
 * Fields that several schemas of the admin API share.
 *
 * @module
 */

import Type from 'typebox'

const described = (description: string | undefined) =>
  description === undefined ? {} : { description }

export const orNull = <Schema extends Type.TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], described(description))

type Literals<Texts extends readonly string[]> = {
  -readonly [Place in keyof Texts]: Type.TLiteral<Texts[Place]>
}

/** One of some texts. */
export function oneOf<const Texts extends readonly string[]>(texts: Texts, description?: string) {
  const literals: readonly unknown[] = texts.map((text) => Type.Literal(text))
  return Type.Union<Literals<Texts>>([...(literals as Literals<Texts>)], described(description))
}

/** A point in time; requests may use any offset, replies are in UTC. */
export const time = (description: string) => Type.String({ format: 'date-time', description })

export const timeOrNull = (description: string) => orNull(time(description), description)

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

/** Unknown members are refused: a misspelt change must not look as if it were made. */
export const strict = { additionalProperties: false } as const

/** The tokens of answers, in the ledger and the usage. */
export const tokenFields = {
  input_tokens: count('Input tokens, those of images and those from a cache included.'),
  output_tokens: count('Tokens of the serialised answers.'),
  image_tokens: count('Tokens of the images.'),
  cached_tokens: count('Input tokens that came from a cache.'),
}
