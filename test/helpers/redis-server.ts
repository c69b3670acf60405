/** Debian's `redis-server`, on loopback, in memory. */
import { existsSync } from 'node:fs'
import type { Test } from 'tap'
import { Child } from '../../scripts/bench/child.js'
import { vacantPort } from './vacant-port.js'

const program = '/usr/bin/redis-server'

/** Why a test is skipped; in CI it is not. */
export const withoutRedis =
  !process.env['CI'] && !existsSync(program) && 'redis-server is not installed'

export class RedisServer {
  readonly port: number
  readonly #host: string
  #child: Child | undefined

  /** Starts one, and ends it with the test. @param host - An address of this machine. */
  static async start(t: Test, host = '127.0.0.1'): Promise<RedisServer> {
    const server = new RedisServer(await vacantPort(), host)
    t.teardown(() => server.kill())
    await server.start()
    return server
  }

  private constructor(port: number, host: string) {
    this.port = port
    this.#host = host
  }

  get url(): string {
    return `redis://${this.#host}:${this.port}`
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', this.#host, '--save', '']
    args.push('--protected-mode', 'no')
    this.#child = new Child(program, args)
    await this.#child.match(/Ready to accept connections/)
  }

  /** Sends its process a signal. */
  signal(name: NodeJS.Signals): void {
    process.kill(this.#child!.pid!, name)
  }

  /** As by `kill -9`: what it knew is gone. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child?.pid === undefined || child.hasEnded) return
    process.kill(child.pid, 'SIGKILL')
    await child.stop()
  }
}
