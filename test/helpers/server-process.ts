/**
 * A server as a process, a stub if nothing else is said, whose output leads wherever a test wants
 * it: so its port is known beforehand and its readiness is asked over HTTP.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { vacantPort } from './vacant-port.js'

export const stubScript = fileURLToPath(new URL('../fixtures/oi-stub.js', import.meta.url))
const realScript = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface ProcessOptions {
  readonly stdio?: StdioOptions
  /** Behind a program that starts it, as `['sh', '-c', 'exec "$@" 2>&-', 'sh']`. */
  readonly through?: readonly string[]
  /** How the stub behaves; `real`: the real command, with the models that `args` name. */
  readonly model?: string
  readonly dataDir?: string
  /** Default: a vacant one. */
  readonly port?: number
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Whether it speaks HTTPS. Its certificate is not looked at if the environment allows that. */
  readonly tls?: boolean
  /** The status of `/readyz` that is waited for. Default 200. */
  readonly until?: number
  /** Told of the process before it is waited for. */
  readonly onStart?: (child: ChildProcess) => void
}

export class ServerProcess {
  readonly #origin: string
  readonly child: ChildProcess
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals | null>

  /** Starts it and waits until it answers; killed at the test's end at the latest. */
  static async start(t: Test, options: ProcessOptions = {}): Promise<ServerProcess> {
    const port = options.port ?? (await vacantPort())
    const server = new ServerProcess(port, options.dataDir ?? t.testdir(), options)
    t.teardown(() => server.child.kill('SIGKILL'))
    options.onStart?.(server.child)
    let ended = false
    void server.exited.then(() => (ended = true))
    while ((await server.status('/readyz')) !== (options.until ?? 200)) {
      if (ended) throw new Error('it ended before it was ready')
      await sleep(20)
    }
    return server
  }

  private constructor(port: number, dataDir: string, options: ProcessOptions) {
    const { stdio = 'ignore', through = [], model = 'instant', args = [] } = options
    const isReal = model === 'real'
    const named = isReal ? [] : ['--model', 'x']
    const serve = ['serve', ...named, '--port', String(port), '--data', dataDir, ...args]
    const script = isReal ? realScript : stubScript
    const [command, ...others] = [...through, process.execPath, script, ...serve]
    const defaults = { OI_TEST_MODEL: model, OI_DRAIN_MS: '0' }
    const env = { ...process.env, ...defaults, ...options.environment }
    this.#origin = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    this.child = spawn(command!, others, { stdio, env })
    this.exited = new Promise((resolve) =>
      this.child.once('exit', (code, signal) => resolve(code ?? signal)),
    )
  }

  /** Undefined where nobody answers. */
  async status(path: string): Promise<number | undefined> {
    try {
      const reply = await fetch(this.url(path))
      await reply.text()
      return reply.status
    } catch {
      return undefined
    }
  }

  url(path: string): string {
    return this.#origin + path
  }

  /** Asks `/healthz` so often. @throws If it is answered otherwise than with 200. */
  async ask(times: number, path = '/healthz'): Promise<void> {
    for (let i = 0; i < times; i++) {
      const status = await this.status(path)
      if (status !== 200) throw new Error(`request ${i} was answered with ${status}`)
    }
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(this.url('/metrics'))).text()
    return Number(new RegExp(`^${name} ([0-9.e+]+)$`, 'm').exec(text)![1])
  }

  /** @returns The exit code, or the signal that ended it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    this.child.kill(signal)
    return this.exited
  }
}
