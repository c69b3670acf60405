/** Pulls from a test's hub, with short waits, into a folder of the test. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Pulled, pullModel, type PullOptions } from '../../src/models/pull/pull.js'
import { HubServer } from './hub-server.js'

export class Puller {
  readonly modelsDir: string
  /** Messages about retries. */
  readonly notes: string[] = []
  readonly #t: Test
  readonly #hub: HubServer

  static async start(t: Test) {
    const hub = await HubServer.start(t)
    return { hub, puller: new Puller(t, hub) }
  }

  constructor(t: Test, hub: HubServer) {
    this.#t = t
    this.#hub = hub
    this.modelsDir = join(t.testdir(), 'data', 'models')
  }

  pull(source: string, options: Partial<PullOptions> = {}): Promise<Pulled> {
    return pullModel(source, {
      hub: new URL(this.#hub.origin),
      token: undefined,
      silenceMs: 10_000,
      backoffMs: 1,
      signal: undefined,
      onRetry: (text) => this.notes.push(text),
      name: undefined,
      sha256: undefined,
      projector: 'own',
      modelsDir: this.modelsDir,
      connections: 3,
      pieceBytes: 1 << 20,
      onProgress: () => {},
      requireUnused: async () => {},
      check: async () => {},
      ...options,
    })
  }

  /** Pulls a model of one file, which then has these bytes. */
  async gets(source: string, bytes: Buffer, options?: Partial<PullOptions>): Promise<Pulled> {
    const pulled = await this.pull(source, options)
    this.#t.ok(this.read(pulled.model.name, pulled.model.model).equals(bytes))
    return pulled
  }

  /** The path of a model's file. */
  path(...names: string[]): string {
    return join(this.modelsDir, ...names)
  }

  read(...names: string[]): Buffer {
    return readFileSync(this.path(...names))
  }

  /** Checks that no model has got a name. */
  nothingNamed(): void {
    const names = existsSync(this.modelsDir) ? readdirSync(this.modelsDir) : []
    this.#t.strictSame(
      names.filter((name) => name !== '.pull'),
      [],
    )
  }
}

/** Unique bytes, of a length that no piece size divides. */
export const someBytes = (megabytes: number) => randomBytes(Math.floor(megabytes * (1 << 20)) + 321)
