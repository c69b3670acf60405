/**
 * Child processes of the build: output passed through, failure as an error, signals passed on.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'

/** A failure whose message is enough for the user: printed without a stack. */
export class BuildError extends Error {
  /** The exit code for it. */
  readonly exitCode: number = 1
}

/** The build was asked to stop, and all its children have ended. */
export class BuildStopped extends BuildError {
  override readonly exitCode: number

  constructor(signal: NodeJS.Signals) {
    super(`Stopped by ${signal}`)
    this.exitCode = 128 + constants.signals[signal]
  }
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** From the forwarded signal to SIGKILL, milliseconds. */
const patienceMs = 5000

/**
 * Runs a program with inherited output, as the leader of its own process group: a signal to this
 * process goes to the whole group, compilers included, and this process waits for its end. This
 * also works as process 1, and for signals from a terminal, which knows only one group, and from
 * npm, which knows only one process.
 *
 * @throws {@link BuildStopped} if a signal came, else {@link BuildError} if it cannot be started
 *   or exits with anything but 0.
 */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; quiet?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopped: NodeJS.Signals | undefined
    let timer: NodeJS.Timeout | undefined
    const passOn = (signal: NodeJS.Signals) => {
      stopped ??= signal
      killGroup(child.pid, signal)
      timer ??= setTimeout(() => killGroup(child.pid, 'SIGKILL'), patienceMs)
    }
    const ended = (error?: BuildError) => {
      clearTimeout(timer)
      for (const signal of stopSignals) process.off(signal, passOn)
      if (stopped !== undefined) reject(new BuildStopped(stopped))
      else if (error !== undefined) reject(error)
      else resolve()
    }
    // Before the start: a signal in between would end this process and leave the child.
    for (const signal of stopSignals) process.on(signal, passOn)
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', options.quiet ? 'ignore' : 'inherit', 'inherit'],
      detached: true,
    })
    child.on('error', (error) =>
      ended(new BuildError(`${command} could not be started: ${error.message}`)),
    )
    child.on('exit', (code, signal) => {
      // The leader has gone; the rest of the group must not outlive this process.
      if (stopped !== undefined) void groupEnded(child.pid).then(() => ended())
      else if (code === 0) ended()
      else ended(new BuildError(`${command} ${args[0] ?? ''} ended with ${signal ?? code}`))
    })
  })
}

/** @returns False if the group does not exist any more. @param signal - 0 only checks. */
function killGroup(leader: number | undefined, signal: NodeJS.Signals | 0): boolean {
  try {
    return leader !== undefined && process.kill(-leader, signal)
  } catch {
    return false
  }
}

async function groupEnded(leader: number | undefined): Promise<void> {
  // As process 1: when it ends everything ends, and ended orphans stay in their group.
  while (process.pid !== 1 && killGroup(leader, 0))
    await new Promise((resolve) => setTimeout(resolve, 20))
}

/** First line of a program's output, or undefined if the program is missing. */
export function probe(
  command: string,
  args: readonly string[] = ['--version'],
): string | undefined {
  const result = spawnSync(command, args, { encoding: 'utf8' })
  return result.status === 0 ? result.stdout.split('\n')[0] : undefined
}
