/**
 * The frame of a script that is a command: its exit code, and its message on wrong usage.
 *
 * @module
 */

import { BuildError } from './build/run.js'

/** The message is enough for the user, before the usage. */
export class UsageError extends Error {}

/**
 * Runs a command and sets the exit code of the process: the result of `main`; 2 for wrong usage,
 * also if `parseArgs` finds it; that of a {@link BuildError}; 1 for any other exception. With
 * `--help` it prints the usage instead.
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
      console.error(error)
      process.exitCode = 1
    }
  }
}
