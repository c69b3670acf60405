/**
 * Credits on the command line.
 *
 * @module
 */

import { InvalidArgumentError } from 'commander'
import { readCredits } from '../accounts/money.js'

/** @returns Whole millionths. @throws Commander's error for a value that is not acceptable. */
export function readAmount(text: string): number {
  try {
    return readCredits(text)
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`)
  }
}
