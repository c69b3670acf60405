/**
 * `oi serve` as a process, with a key, which is asked over HTTP and over its admin socket, and may
 * be told to serve other models.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import { askServer } from '../../src/admin/client.js'
import type { ModelStatus } from '../../src/admin/operations.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { dataFolder } from './data-folder.js'
import { type ProcessOptions, ServerProcess } from './server-process.js'
import { until } from './until.js'

const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }

export class Served {
  /** All that it wrote on standard error. */
  said = ''
  readonly server: ServerProcess
  readonly dataDir: string
  readonly headers: Readonly<Record<string, string>>

  static async start(t: Test, options: ProcessOptions = {}): Promise<Served> {
    const dataDir = options.dataDir ?? dataFolder(t)
    const accounts = new Accounts({ dataDir })
    const { secret } = accounts.createFirstKey() ?? accounts.createKey('default', 'another')
    accounts.close()
    const stdio = ['ignore', 'ignore', 'pipe'] as const
    const started = { stdio: [...stdio], model: 'real', ...options, dataDir }
    return new Served(await ServerProcess.start(t, started), dataDir, secret)
  }

  private constructor(server: ServerProcess, dataDir: string, key: string) {
    this.server = server
    this.dataDir = dataDir
    this.headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    server.child.stderr?.on('data', (text) => (this.said += text))
  }

  /** @returns The reply, its body read. */
  async decide(state: string, model?: string) {
    const reply = await fetch(this.server.url('/v1/systemone'), {
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify({ state, questions, model }),
    })
    return { status: reply.status, headers: reply.headers, body: await reply.text() }
  }

  /** The names of `GET /v1/models`; the default model's has a star. */
  async models(): Promise<string[]> {
    const reply = await fetch(this.server.url('/v1/models'), { headers: this.headers })
    const { models } = (await reply.json()) as { models: { name: string; default: boolean }[] }
    return models.map(({ name, default: isDefault }) => (isDefault ? `${name}*` : name))
  }

  admin(operation: string, input: object = {}, onProgress?: (text: string) => void) {
    return askServer(this.dataDir, operation, { ...input }, onProgress) as Promise<ModelStatus[]>
  }

  async pids(): Promise<readonly (number | undefined)[]> {
    const statuses = await this.admin('models.status')
    return statuses.map(({ processes }) => processes[0]?.pid)
  }

  /** Waits for a line in the log. @returns It. */
  async logged(pattern: RegExp, from = 0): Promise<string> {
    await until(() => pattern.test(this.said.slice(from)))
    return pattern.exec(this.said.slice(from))![0]
  }
}

/** The model of this package under another name. */
export function copyOfModel(t: Test, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'oi-model-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, `${name}.gguf`)
  copyFileSync(defaultModelPath, path)
  return path
}
