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
  #child: Child | undefined

  /** Starts one, and ends it with the test. */
  static async start(t: Test): Promise<RedisServer> {
    const server = new RedisServer(await vacantPort())
    t.teardown(() => server.kill())
    await server.start()
    return server
  }

  private constructor(port: number) {
    this.port = port
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '']
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
