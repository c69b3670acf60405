/**
 * `oi serve` as a process, with an API key. Tests send it requests over HTTP, and admin operations
 * over its socket.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import { askServer } from '../../src/admin/socket/client.js'
import type { ModelStatus } from '../../src/admin/socket/operations.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { get, headersOf, post } from './asking.js'
import { dataFolder } from './data-folder.js'
import { type ProcessOptions, ServerProcess } from './server-process.js'

const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }

export class Served {
  readonly server: ServerProcess
  readonly dataDir: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>

  static async start(t: Test, options: ProcessOptions = {}): Promise<Served> {
    const dataDir = options.dataDir ?? dataFolder(t)
    const accounts = new Accounts({ dataDir })
    const { secret } = accounts.createFirstKey() ?? accounts.createKey('default', 'another')
    accounts.close()
    const started = { model: 'real', ...options, dataDir }
    return new Served(await ServerProcess.start(t, started), dataDir, secret)
  }

  private constructor(server: ServerProcess, dataDir: string, key: string) {
    this.server = server
    this.dataDir = dataDir
    this.key = key
    this.headers = headersOf(key)
  }

  get url(): string {
    return this.server.url('')
  }

  /** All that the server wrote on standard error. */
  get said(): string {
    return this.server.said
  }

  /** @returns The reply with its whole body. */
  async decide(state: string, model?: string) {
    const reply = await post(this, { state, questions, model })
    return { status: reply.status, headers: reply.headers, body: await reply.text() }
  }

  /** The names of `GET /v1/models`; the default model's has a star. */
  async models(): Promise<string[]> {
    const reply = await get(this, '/v1/models')
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

  /** Waits for a line in the log, and returns it. */
  async logged(pattern: RegExp, from = 0): Promise<string> {
    await this.server.until(() => pattern.test(this.said.slice(from)))
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
