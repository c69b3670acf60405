/**
 * Stand-ins for what HTTP is built on: a decider that answers as told, the wire's functions in
 * their simplest form, and a whole server over them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { writeDecision } from '../../src/api/decisions/write-decision.js'
import { readBatch } from '../../src/api/read-batch.js'
import { createWire } from '../../src/server/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider, type DeciderOptions, type ModelDecider } from '../../src/decide/decide.js'
import type { Cancellation } from '../../src/engine/types.js'
import type { DecideOptions, Decider, DecideRequest, Decision } from '../../src/decide/types.js'
import { noStats } from '../../src/engine/stats.js'
import { type ErrorCode, OiError } from '../../src/errors.js'
import { AdminArea } from '../../src/admin/admin-area.js'
import type { AdminOptions } from '../../src/admin/call.js'
import { Handlers } from '../../src/http/handlers.js'
import type { Backend, HandlersOptions } from '../../src/http/handlers-options.js'
import { type Admission, openAdmission } from '../../src/http/access/admission.js'
import { WorkspaceAdmission } from '../../src/http/access/workspace-admission.js'
import { createLogger } from '../../src/http/log/logger.js'
import type { Wire } from '../../src/http/requests/wire.js'
import { Server, type TransportName } from '../../src/http/server.js'
import { readTls, type TlsFiles } from '../../src/http/transport/tls.js'
import {
  createFakeEngine,
  type FakeEngine,
  type FakeEngineOptions,
  fakeFacts,
} from './fake-engine.js'

export const decision: Decision = {
  model: 'stub',
  answers: { q: { type: 'noul', noul: 0.75 } },
  usage: { input_tokens: 12, output_tokens: 3 },
  latency_ms: 1.5,
  cached_tokens: 0,
  timings: { queue: 0.25, tokenize: 0.5, vision: 0, model: 1.5 },
}

/** The wire of a server with default settings. */
export const realWire = createWire(readConfig({}))

export const wire: Wire = {
  decodeUtf8: (bytes) => new TextDecoder('utf-8').decode(bytes),
  readRequest: (text) => {
    try {
      return JSON.parse(text) as DecideRequest
    } catch (cause) {
      throw new OiError('ERR_BODY_INVALID', 'expected JSON', { param: 'state', cause })
    }
  },
  readBatch: (text) => readBatch(text, { maxQuestions: 256, maxOptions: 255, maxLevels: 255 }),
  readDecision: realWire.readDecision,
  writeDecision,
  serializeDecision: ({ model, answers, usage, latency_ms }) =>
    JSON.stringify({ model, answers, usage, latency_ms }),
}

/** Answers at once unless told how. */
export function stubDecider(decide: Decider['decide'] = async () => decision): Decider {
  return {
    models: [
      {
        name: 'stub',
        description: 'answers without thinking',
        release_date: '2025-01-02',
        aliases: ['default', 'latest', 'jev-latest', 'jev-preview'],
        default: true,
        modalities: ['text'],
        limits: {
          max_options: 255,
          max_levels: 255,
          max_questions: 400,
          max_options_per_request: 16_384,
          max_state_tokens: 1000,
          max_images: 0,
          max_image_pixels: 0,
          max_batch: 256,
        },
        same_bits: true,
        digest: `sha256:${'0'.repeat(64)}`,
        readout: 'stub@1',
      },
    ],
    decide,
    engines: () => [{ model: 'stub', stats: noStats() }],
  }
}

/** Admission that admits no request, or none of the first `times`. */
export function refusing(code: ErrorCode, retryAfterMs?: number, times = Infinity): Admission {
  let left = times
  const take = () => {
    if (left-- > 0) {
      throw new OiError(code, 'no more', retryAfterMs === undefined ? {} : { retryAfterMs })
    }
  }
  return { ...openAdmission, take }
}

/** Admission by the server's own workspaces. */
export const ofWorkspaces = (accounts: Accounts) => new WorkspaceAdmission({ accounts })

/** A decision that lasts until the test releases it or it is aborted. */
export class Slow {
  readonly signals: Cancellation[] = []
  readonly #releases: (() => void)[] = []

  decide = (_request: DecideRequest, { signal }: DecideOptions = {}): Promise<Decision> =>
    new Promise((resolve, reject) => {
      this.signals.push(signal!)
      this.#releases.push(() => resolve(decision))
      signal!.addEventListener('abort', () => reject(signal!.reason), { once: true })
    })

  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }
}

export interface StubServer {
  readonly port: number
  readonly url: string
  readonly key: string
  readonly keyId: number
  readonly dataDir: string
  readonly accounts: Accounts
  readonly handlers: Handlers
  readonly server: Server
  readonly log: string[]
}

export interface StubOptions extends Partial<HandlersOptions> {
  readonly decider?: Decider
  /** Admission over the server's own accounts. Default: everything is allowed. */
  readonly admissionOf?: (accounts: Accounts) => Admission
  /** The admin API over the server's own accounts. Default: none. */
  readonly adminOf?: (accounts: Accounts) => AdminOptions
  readonly tls?: TlsFiles
  /** Default: a new one. */
  readonly dataDir?: string
  /** See {@link Server.listen}. */
  readonly patienceMs?: number
  readonly transport?: TransportName
  readonly idleTimeoutMs?: number
  readonly proxyProtocol?: boolean
  /** Default 127.0.0.1. */
  readonly host?: string
}

/** The default transport of tests: `npm run test:node-http` runs them on node:http. */
const standardTransport = (process.env['OI_TRANSPORT'] as TransportName | undefined) ?? 'auto'

/** Runs a server with its own data folder and a key, and removes both. */
export async function withServer(
  options: StubOptions,
  use: (server: StubServer) => Promise<void>,
): Promise<void> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'oi-http-'))
  const log: string[] = []
  const logger = createLogger({ requests: true }, (line) => log.push(line))
  const accounts = new Accounts({ dataDir, busyMs: 0, log: (text) => logger.notice(text) })
  const { secret: key, id: keyId } = accounts.createFirstKey()!
  const { adminOf, decider = stubDecider() } = options
  const backend: Backend = { state: () => 'ready', decider: () => decider }
  const handlers = new Handlers({
    backend,
    accounts,
    admission: options.admissionOf?.(accounts) ?? openAdmission,
    area: adminOf && ((server) => new AdminArea(adminOf(accounts), server, backend)),
    wire,
    logger,
    maxBodyBytes: 4_194_304,
    deadlineMs: 60_000,
    ...options,
  })
  const { tls, transport = standardTransport, host = '127.0.0.1' } = options
  const { patienceMs, idleTimeoutMs, proxyProtocol } = options
  const server = await Server.listen({
    ...{ handlers, host, port: 0, tls: tls && readTls(tls), transport },
    ...{ patienceMs, idleTimeoutMs, proxyProtocol },
  })
  try {
    const { port } = server
    const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    await use({ port, url, key, keyId, dataDir, accounts, handlers, server, log })
  } finally {
    await server.close(0)
    accounts.close()
    rmSync(dataDir, { recursive: true })
  }
}

interface FakeOptions extends StubOptions {
  readonly engine?: FakeEngineOptions
  /** Whether the model sees images. Default false. */
  readonly vision?: boolean
  /** Changes of the model's facts. */
  readonly facts?: Partial<DeciderOptions>
}

export interface FakeServer extends StubServer {
  readonly engine: FakeEngine
  readonly decider: ModelDecider
}

/** A server with the real wire and the real decider, over an engine without a model. */
export async function withFake(
  { engine: made, vision = false, facts, ...options }: FakeOptions,
  use: (server: FakeServer) => Promise<void>,
): Promise<void> {
  const engine = createFakeEngine({ info: { vision }, ...made })
  const decider = await createDecider(engine, { ...fakeFacts, ...facts })
  await withServer({ decider, wire: realWire, ...options }, (server) =>
    use({ ...server, engine, decider }),
  )
}
