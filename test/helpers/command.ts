/**
 * Runs the compiled command as a child process and collects what it writes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from './until.js'

const real = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const stub = fileURLToPath(new URL('../fixtures/oi-stub.js', import.meta.url))

export class RunningCommand {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly exited: Promise<number | null>
  #closed = false

  /** @param model - Behaviour of the stub model; without it, the real command runs. */
  constructor(
    args: readonly string[],
    model?: string,
    environment: Record<string, string> = {},
    input = '',
  ) {
    const script = model === undefined ? real : stub
    // Most tests stop the command because they are over.
    const patience = { OI_DRAIN_MS: '0' }
    const env = {
      ...process.env,
      ...patience,
      ...environment,
      ...(model && { OI_TEST_MODEL: model }),
    }
    this.process = spawn(process.execPath, [script, ...args], { env })
    this.process.stdin!.end(input)
    this.process.stdout!.on('data', (data) => (this.stdout += data))
    this.process.stderr!.on('data', (data) => (this.stderr += data))
    this.exited = new Promise((resolve) => this.process.once('close', resolve))
    // At 'close' all output has been read, at 'exit' perhaps not.
    this.process.once('close', () => (this.#closed = true))
  }

  /** Waits until a condition holds. @throws When the command has ended, with what it wrote. */
  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return until(condition, () => {
      if (!this.#closed) return undefined
      const { exitCode, signalCode } = this.process
      return `the command ended with ${exitCode ?? signalCode}:\n${this.stdout}${this.stderr}`
    })
  }

  /** Waits until the command has written what matches. @returns The first match. */
  async match(pattern: RegExp): Promise<RegExpMatchArray> {
    let match: RegExpMatchArray | null = null
    await this.until(() => {
      match = `${this.stdout}\n${this.stderr}`.match(pattern)
      return match !== null
    })
    return match!
  }
}

/** Runs the real command to its end. */
export function oi(args: readonly string[], environment: Record<string, string> = {}) {
  return ended(new RunningCommand(args, undefined, environment))
}

/** The exit code of another process, and all that it wrote. */
export async function outcomeOf(child: ChildProcess) {
  const text = { stdout: '', stderr: '' }
  child.stdout!.on('data', (data) => (text.stdout += data))
  child.stderr!.on('data', (data) => (text.stderr += data))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...text }
}

export async function ended(command: RunningCommand) {
  const code = await command.exited
  return { code, stdout: command.stdout, stderr: command.stderr }
}
