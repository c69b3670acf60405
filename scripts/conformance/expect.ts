/**
 * Assertions of the rules; their message becomes the report's line.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'

/** The rule is broken; the message says how. */
export class Failure extends Error {}

/** The rule cannot be checked here; the message says why. */
export class Skipped extends Error {}

const longest = 160

/**
 * How far two answers to the same prompt may lie apart: a quantized model answers with slightly
 * different numbers beside other texts, by up to 7e-3 for trained weights of 8 bits.
 */
export const sameAnswer = 1e-2

/** @throws {@link Failure} unless it holds. @param seen - The message. */
export function check(holds: unknown, seen: string): asserts holds {
  if (!holds) throw new Failure(seen)
}

/** @throws {@link Failure} unless both are deeply equal; the order of names does not count. */
export function equal(what: string, actual: unknown, expected: unknown): void {
  check(
    isDeepStrictEqual(actual, expected),
    `${what}: expected ${show(expected)}, got ${show(actual)}`,
  )
}

/** @throws {@link Failure} unless `actual` is a number that differs by at most `tolerance`. */
export function near(what: string, actual: unknown, expected: number, tolerance: number): void {
  check(
    typeof actual === 'number' && Math.abs(actual - expected) <= tolerance,
    `${what}: expected ${expected} within ${tolerance}, got ${show(actual)}`,
  )
}

/** @throws {@link Failure} unless it is a number from `low` to `high`. */
export function between(what: string, actual: unknown, low: number, high: number): void {
  check(
    typeof actual === 'number' && actual >= low && actual <= high,
    `${what}: expected a number from ${low} to ${high}, got ${show(actual)}`,
  )
}

/** @throws {@link Failure} unless it is a whole number of at least `low`. */
export function whole(what: string, actual: unknown, low = 0): asserts actual is number {
  check(
    Number.isSafeInteger(actual) && (actual as number) >= low,
    `${what}: expected a whole number from ${low} on, got ${show(actual)}`,
  )
}

/** @throws {@link Failure} unless it is an object and not an array. */
export function object(what: string, actual: unknown): asserts actual is Record<string, unknown> {
  check(
    typeof actual === 'object' && actual !== null && !Array.isArray(actual),
    `${what}: expected an object, got ${show(actual)}`,
  )
}

/** @throws {@link Failure} unless it is an array. */
export function list(what: string, actual: unknown): asserts actual is unknown[] {
  check(Array.isArray(actual), `${what}: expected an array, got ${show(actual)}`)
}

/** @throws {@link Failure} unless it is a string that matches. */
export function text(what: string, actual: unknown, pattern = /^[^]/): asserts actual is string {
  check(
    typeof actual === 'string' && pattern.test(actual),
    `${what}: expected a string like ${pattern.source}, got ${show(actual)}`,
  )
}

/**
 * @returns All numbers in the message.
 * @throws {@link Failure} unless these are among them, as `16384` or `16,384`.
 */
export function saysNumbers(message: string, ...numbers: readonly number[]): readonly number[] {
  const found = (message.match(/\d[\d,]*/g) ?? []).map((text) => Number(text.replaceAll(',', '')))
  for (const number of numbers) {
    check(found.includes(number), `expected the number ${number} in "${message}"`)
  }
  return found
}

/** Runs this, and puts its subject before the message of a failure. */
export async function about<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Failure) throw new Failure(`${what}: ${error.message}`)
    throw error
  }
}

/**
 * Acts on each case in turn, and puts its name before the message of a failure: of a list a text's
 * name is itself, and anything else is called by its place.
 */
export async function each<T>(
  cases: readonly T[] | Readonly<Record<string, T>>,
  act: (value: T) => unknown,
): Promise<void> {
  for (const [place, value] of Object.entries<T>(cases as Readonly<Record<string, T>>)) {
    const what = Array.isArray(cases) && typeof value === 'string' ? value : place
    await about(what, async () => {
      await act(value)
    })
  }
}

/** @throws {@link Skipped}. */
export function skip(reason: string): never {
  throw new Skipped(reason)
}

/** A value as short JSON. */
export function show(value: unknown): string {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value)
  return shown.length <= longest ? shown : `${shown.slice(0, longest)}…`
}
