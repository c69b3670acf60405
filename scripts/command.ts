/**
 * The frame of a script that is a command: its exit code, its message on wrong usage, and its
 * numbers.
 *
 * @module
 */

import { OiError } from '../src/errors.js'
import { BuildError } from './build/run.js'

/** The message is enough for the user, before the usage. */
export class UsageError extends Error {}

/**
 * Runs a command and sets the exit code of the process: the result of `main`; 2 for wrong usage,
 * also if `parseArgs` finds it; that of a {@link BuildError}; 1 for any other exception, of which
 * an {@link OiError} needs no stack. With `--help` it prints the usage instead.
 */
export async function runCommand(usage: string, main: () => Promise<number>): Promise<void> {
  if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
    console.log(usage)
    return
  }
  try {
    process.exitCode = await main()
  } catch (error) {
    const wrongArguments = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')
    if (wrongArguments || error instanceof UsageError) {
      console.error(`${(error as Error).message}\n\n${usage}`)
      process.exitCode = 2
    } else if (error instanceof BuildError) {
      console.error(error.message)
      process.exitCode = error.exitCode
    } else {
      console.error(error instanceof OiError ? error.message : error)
      process.exitCode = 1
    }
  }
}

/** The number of an option. @throws {@link UsageError} if it is not a whole one from `least` on. */
export function wholeNumber(
  option: string,
  text: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const value = text.trim() === '' ? NaN : Number(text)
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} on` : `${least} to ${most}`
  throw new UsageError(`--${option}: expected a whole number from ${range}, got "${text}"`)
}
