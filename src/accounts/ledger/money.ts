/**
 * Credits and prices, in whole numbers only.
 *
 * Pure: no store. An amount is a whole number of millionths of a credit, and a price is an amount
 * per million tokens. All of them are small enough for every sum to be exact.
 *
 * @module
 */

import { OiError } from '../../errors.js'

const perCredit = 1_000_000
const perPrice = 1_000_000

/** Largest single credit and largest balance, millionths: 1e9 credits. */
export const maxAmount = 999_999_999_999_999
/** Largest price per million tokens, millionths of a credit: one credit per token. */
export const maxPrice = 1_000_000_000_000

/** Amounts per million tokens, 0 to {@link maxPrice}. */
export interface Price {
  readonly input: number
  readonly output: number
  /** For image tokens, which are among the input tokens and cost this instead. */
  readonly image: number
}

/** Whole numbers from 0 to below 2^32. */
export interface Tokens {
  /** All tokens of the prompt, those of images and those from a cache included. */
  readonly input_tokens: number
  readonly output_tokens: number
  readonly image_tokens?: number
}

export const free: Price = { input: 0, output: 0, image: 0 }

/**
 * The cost of a request: image tokens at the image price, the other input tokens at the input
 * price, whether they came from a cache or not, and output tokens at the output price.
 *
 * @returns An amount, rounded up once, at the end.
 */
export function costOf(tokens: Tokens, price: Price): number {
  const images = tokens.image_tokens ?? 0
  const texts = tokens.input_tokens - images
  const product = texts * price.input + images * price.image + tokens.output_tokens * price.output
  if (Number.isSafeInteger(product)) {
    // Division would round: a remainder is exact.
    const rest = product % perPrice
    return (product - rest) / perPrice + (rest > 0 ? 1 : 0)
  }
  const exact =
    BigInt(texts) * BigInt(price.input) +
    BigInt(images) * BigInt(price.image) +
    BigInt(tokens.output_tokens) * BigInt(price.output)
  return Number((exact + BigInt(perPrice - 1)) / BigInt(perPrice))
}

/**
 * Reads credits as people write them.
 *
 * @param text - A decimal number with at most 9 digits before the point and 6 after it; may be
 *   negative.
 * @throws {@link OiError} `ERR_ACCOUNTS` if it is not such a number.
 * @example
 * ```ts
 * readCredits('-1.5') // -1_500_000
 * ```
 */
export function readCredits(text: string): number {
  const match = /^(-?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text)
  if (match === null) {
    throw new OiError(
      'ERR_ACCOUNTS',
      `Expected credits as 12 or 12.5, with at most 9 digits before the point and 6 after it, ` +
        `got ${JSON.stringify(text)}`,
    )
  }
  const [, sign, whole, fraction = ''] = match
  const amount = Number(whole) * perCredit + Number(fraction.padEnd(6, '0'))
  // Avoids -0.
  return sign === '-' && amount > 0 ? -amount : amount
}

/** An amount as credits, without trailing zeros, in the form that {@link readCredits} takes. */
export function showCredits(amount: number): string {
  const size = Math.abs(amount)
  const rest = size % perCredit
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
  return `${amount < 0 ? '-' : ''}${(size - rest) / perCredit}${fraction}`
}
