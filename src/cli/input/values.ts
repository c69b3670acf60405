/**
 * Reads and checks the values of flags.
 *
 * @module
 */

import { InvalidArgumentError } from 'commander'
import { readCredits } from '../../accounts/ledger/money.js'
import { readBaseUrl } from '../../client/options.js'
import { OiError } from '../../errors.js'

/** @returns A reader for an option's value, which throws commander's error outside the range. */
export function readWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`It should be a whole number from ${least} to ${most}.`)
  }
}

/** @returns Whole millionths. @throws Commander's error for an invalid value. */
export function readAmount(text: string): number {
  try {
    return readCredits(text)
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`)
  }
}

/** Collects the values of a repeatable flag, for commander. */
export function together(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/**
 * The address before `/v1`, without a slash at its end.
 *
 * @param text - With or without `/v1` at its end.
 * @throws {@link OiError} `ERR_CONFIG` naming the flag, unless it is an http or https address.
 * @example
 * ```ts
 * serverAddress('--url', 'http://localhost:8080/v1/') // 'http://localhost:8080'
 * ```
 */
export function serverAddress(flag: string, text: string): string {
  try {
    return readBaseUrl(text)
  } catch (cause) {
    const { message } = cause as TypeError
    throw new OiError('ERR_CONFIG', message.replace(/^baseUrl/, flag), { cause })
  }
}
