/**
 * The whole server over an engine that answers at once, on uWebSockets.js or on node:http: the
 * same handlers, so that their difference is the transport's.
 *
 *     node dist/scripts/bench/front-server.js uws|node
 *
 * Prints `{"port", "key"}`, and serves until SIGTERM.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { createWire } from '../../src/cli/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import type { Head } from '../../src/http/exchange.js'
import { Handlers } from '../../src/http/handlers.js'
import { createLogger } from '../../src/http/logger.js'
import { Server } from '../../src/http/server.js'
import { createInstantEngine } from './instant-engine.js'

const decider = await createDecider(createInstantEngine(), {
  fileName: 'instant.gguf',
  digest: `sha256:${'0'.repeat(64)}`,
  releaseDate: '2026-01-01',
})

const dataDir = mkdtempSync(join(tmpdir(), 'oi-front-'))
const accounts = new Accounts({ dataDir })
const { secret: key } = accounts.createFirstKey()!
const handlers = new Handlers({
  backend: { state: () => 'ready', decider: () => decider },
  accounts,
  wire: createWire(readConfig({})),
  logger: createLogger(false),
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

async function listenOnNode(): Promise<number> {
  const server = createServer((request, response) => {
    const exchange = handlers.open(new NodeHead(request), {
      send: ({ status, headers, body, headOnly, close }) => {
        response.writeHead(status, STATUS_CODES[status], [
          ...headers,
          'content-length',
          String(Buffer.byteLength(body)),
          ...(close ? ['connection', 'close'] : []),
        ])
        response.end(headOnly ? undefined : body)
      },
    })
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
