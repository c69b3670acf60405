/**
 * A server as a process, by default a stub. A test may send its output anywhere, so the test knows
 * the port beforehand and asks over HTTP whether the server is ready.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from './until.js'
import { vacantPort } from './vacant-port.js'

export const stubScript = fileURLToPath(new URL('../fixtures/oi-stub.js', import.meta.url))
const realScript = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface ProcessOptions {
  /** Default: standard error is read into `said`. With `stdio`, the test reads what it wants. */
  readonly stdio?: StdioOptions
  /** A program that starts the server, as `['sh', '-c', 'exec "$@" 2>&-', 'sh']`. */
  readonly through?: readonly string[]
  /** Behaviour of the stub; `real`: the real command, with the models in `args`. */
  readonly model?: string
  readonly dataDir?: string
  /** Default: a vacant port. */
  readonly port?: number
  /** Where it listens, if not on loopback. */
  readonly host?: string
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the server speaks HTTPS. The environment may switch certificate checks off. */
  readonly tls?: boolean
  /** The status of `/readyz` to wait for. Default 200. */
  readonly until?: number
  /** Called before the wait. */
  readonly onStart?: (server: ServerProcess) => void
}

export class ServerProcess {
  readonly #origin: string
  readonly child: ChildProcess
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals | null>
  /** What the server wrote on the outputs that are read. */
  said = ''
  #end: string | undefined

  /** Starts a server, waits until it answers, and kills it at the end of the test. */
  static async start(t: Test, options: ProcessOptions = {}): Promise<ServerProcess> {
    const port = options.port ?? (await vacantPort())
    const server = new ServerProcess(port, options.dataDir ?? t.testdir(), options)
    t.teardown(() => server.child.kill('SIGKILL'))
    options.onStart?.(server)
    await server.until(async () => {
      if ((await server.status('/readyz')) === (options.until ?? 200)) return true
      await sleep(20)
      return false
    })
    return server
  }

  private constructor(port: number, dataDir: string, options: ProcessOptions) {
    const {
      stdio = ['ignore', 'ignore', 'pipe'],
      through = [],
      model = 'instant',
      args = [],
    } = options
    const isReal = model === 'real'
    const named = isReal ? [] : ['--model', 'x']
    const at = options.host === undefined ? [] : ['--host', options.host]
    const serve = ['serve', ...named, '--port', String(port), '--data', dataDir, ...at, ...args]
    const script = isReal ? realScript : stubScript
    const [command, ...others] = [...through, process.execPath, script, ...serve]
    const defaults = { OI_TEST_MODEL: model, OI_DRAIN_MS: '0' }
    const env = { ...process.env, ...defaults, ...options.environment }
    const host = options.host ?? '127.0.0.1'
    this.#origin = `${options.tls ? 'https' : 'http'}://${host}:${port}`
    this.child = spawn(command!, others, { stdio, env })
    if (options.stdio === undefined) this.read(this.child.stderr!)
    this.exited = new Promise((resolve) =>
      this.child.once('exit', (code, signal) => {
        const end = String(code ?? signal)
        // A process that the server started may keep the outputs open.
        this.child.once('close', () => (this.#end = end))
        setTimeout(() => (this.#end = end), 500).unref()
        resolve(code ?? signal)
      }),
    )
  }

  /** Adds what the server writes on an output to `said`. */
  read(output: Readable): void {
    output.on('data', (piece) => (this.said += String(piece)))
  }

  /** Waits until a condition holds. @throws When the server has ended, with what it said. */
  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return until(condition, () =>
      this.#end === undefined ? undefined : `the server ended with ${this.#end}:\n${this.said}`,
    )
  }

  /** @returns Undefined if no server answers. */
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

  /** Asks `/healthz` several times. @throws On any status but 200. */
  async ask(times: number, path = '/healthz'): Promise<void> {
    for (let i = 0; i < times; i++) {
      const status = await this.status(path)
      if (status !== 200) throw new Error(`request ${i} got status ${status}`)
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
