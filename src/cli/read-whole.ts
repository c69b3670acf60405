/**
 * Whole numbers on the command line.
 *
 * @module
 */

import { InvalidArgumentError } from 'commander'

/** @returns A reader for an option's value, which throws commander's error outside the range. */
export function readWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`It should be a whole number from ${least} to ${most}.`)
  }
}
