/**
 * Child processes of the build: output passed through, failure as an error.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'

/** A failure whose message is all that a person needs: printed without a stack. */
export class BuildError extends Error {}

/**
 * Runs a program with inherited output.
 *
 * @throws {@link BuildError} if it cannot be started or exits with anything but 0.
 */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; quiet?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', options.quiet ? 'ignore' : 'inherit', 'inherit'],
    })
    child.on('error', (error) =>
      reject(new BuildError(`${command} could not be started: ${error.message}`)),
    )
    child.on('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new BuildError(`${command} ${args[0] ?? ''} ended with ${signal ?? code}`))
    })
  })
}

/** First line of a program's output, or undefined if it is not there. */
export function probe(
  command: string,
  args: readonly string[] = ['--version'],
): string | undefined {
  const result = spawnSync(command, args, { encoding: 'utf8' })
  return result.status === 0 ? result.stdout.split('\n')[0] : undefined
}
