/**
 * Runs the compiled command as a child process and collects what it writes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const real = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const stub = fileURLToPath(new URL('../fixtures/oi-stub.js', import.meta.url))

export class RunningCommand {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly exited: Promise<number | null>
  #closed = false

  /** @param model - How the stub model behaves; without it, the real command. */
  constructor(
    args: readonly string[],
    model?: string,
    environment: Record<string, string> = {},
    input = '',
  ) {
    const script = model === undefined ? real : stub
    // Most tests ask for the end because they are at theirs.
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
    // By its end all that it wrote has been read, which it may not be when it exits.
    this.process.once('close', () => (this.#closed = true))
  }

  /** The first match in what it wrote; waits for it. */
  async match(pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const match = `${this.stdout}\n${this.stderr}`.match(pattern)
      if (match !== null) return match
      if (this.#closed) {
        throw new Error(`it ended with ${this.process.exitCode}: ${this.stdout}${this.stderr}`)
      }
      await sleep(10)
    }
  }
}

/** Runs the real command to its end. */
export function oi(args: readonly string[], environment: Record<string, string> = {}) {
  return ended(new RunningCommand(args, undefined, environment))
}

export async function ended(command: RunningCommand) {
  const code = await command.exited
  return { code, stdout: command.stdout, stderr: command.stderr }
}
