/**
 * The whole server over an engine that answers at once, on uWebSockets.js or on node:http: the
 * same handlers, so that their difference is the transport's. The workspace has limits that are
 * never reached, a balance and a price: everything is counted, charged and booked.
 *
 *     node dist/scripts/bench/front-server.js uws|node
 *
 * Prints `{"port", "key"}`, and serves until SIGTERM.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { createWire } from '../../src/cli/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import type { Client, Head } from '../../src/http/exchange.js'
import { Handlers } from '../../src/http/handlers.js'
import { createLogger } from '../../src/http/logger.js'
import type { Reply } from '../../src/http/reply.js'
import { Server } from '../../src/http/server.js'
import { WorkspaceGate } from '../../src/http/workspace-gate.js'
import { createInstantEngine } from './instant-engine.js'

const decider = await createDecider(createInstantEngine(), {
  fileName: 'instant.gguf',
  digest: `sha256:${'0'.repeat(64)}`,
  releaseDate: '2026-01-01',
})

const dataDir = mkdtempSync(join(tmpdir(), 'oi-front-'))
const accounts = new Accounts({ dataDir })
const { secret: key, workspace } = accounts.createFirstKey()!
const { id } = accounts.workspace(workspace)
accounts.terms.setLimits(id, { requestsPerMinute: 1_000_000_000, concurrent: 1_000_000 })
accounts.credits.add(id, 100_000_000_000_000)
accounts.prices.set(decider.card.name, { input: 2_000_000, output: 5_000_000 })
const handlers = new Handlers({
  backend: { state: () => 'ready', decider: () => decider },
  accounts,
  gate: new WorkspaceGate({ accounts }),
  wire: createWire(readConfig({})),
  logger: createLogger(false, (line) => process.stderr.write(line)),
  maxBodyBytes: 4_194_304,
  deadlineMs: 60_000,
})

/** A request of node:http in the form of {@link Head}. */
class NodeHead implements Head {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  getMethod(): string {
    return this.#request.method!.toLowerCase()
  }

  getUrl(): string {
    const url = this.#request.url!
    const query = url.indexOf('?')
    return query < 0 ? url : url.slice(0, query)
  }

  getHeader(name: string): string {
    return (this.#request.headers[name] as string | undefined) ?? ''
  }
}

/** A response of node:http in the form of {@link Client}. */
class NodeClient implements Client {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  address(): string {
    return this.#response.socket?.remoteAddress ?? ''
  }

  send({ status, headers, body, headOnly, close }: Reply): void {
    this.#response.writeHead(status, STATUS_CODES[status], [
      ...headers,
      'content-length',
      String(Buffer.byteLength(body)),
      ...(close ? ['connection', 'close'] : []),
    ])
    this.#response.end(headOnly ? undefined : body)
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#response.writeHead(status, STATUS_CODES[status], [...headers])
    this.#response.on('drain', onWritable)
  }

  write(text: string): boolean {
    return this.#response.write(text)
  }

  end(): void {
    this.#response.end()
  }
}

async function listenOnNode(): Promise<number> {
  const server = createServer((request, response) => {
    const exchange = handlers.open(new NodeHead(request), new NodeClient(response))
    if (exchange === undefined) return
    response.on('close', () => exchange.abandon())
    request.on('data', (chunk: Buffer) => exchange.receive(chunk, false))
    request.on('end', () => exchange.receive(new Uint8Array(0), true))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function listenOnUws(): Promise<number> {
  return (await Server.listen({ handlers, host: '127.0.0.1', port: 0 })).port
}

const port = process.argv[2] === 'node' ? await listenOnNode() : await listenOnUws()
process.stdout.write(`${JSON.stringify({ port, key })}\n`)
process.once('SIGTERM', () => {
  accounts.close()
  rmSync(dataDir, { recursive: true })
  process.exit(0)
})
