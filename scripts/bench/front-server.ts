/**
 * The whole front over a decider that answers at once, on uWebSockets.js or on node:http: the
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
import type { Decider, DecideRequest, Decision } from '../../src/decide/types.js'
import type { Wire } from '../../src/http/decide-exchange.js'
import type { Head } from '../../src/http/exchange.js'
import { Handlers } from '../../src/http/handlers.js'
import { createLogger } from '../../src/http/logger.js'
import { Server } from '../../src/http/server.js'

const decision: Decision = {
  model: 'instant',
  answers: {
    billing: { type: 'noul', noul: 0.75 },
    team: {
      type: 'choice',
      choice: 'a',
      probabilities: { a: 0.625, b: 0.25, c: 0.125 },
      confidence: 0.4375,
    },
  },
  usage: { input_tokens: 1000, output_tokens: 40, cached_tokens: 0 },
  latency_ms: 0.5,
  timings: { queue: 0, tokenize: 0, vision: 0, model: 0.5 },
}
const decider: Decider = { models: [], decide: () => Promise.resolve(decision) }

const decoder = new TextDecoder('utf-8', { fatal: true })
const wire: Wire = {
  decodeUtf8: (bytes) => decoder.decode(bytes),
  readRequest: (text) => JSON.parse(text) as DecideRequest,
  serializeDecision: ({ timings: _, ...body }) => JSON.stringify(body),
}

const dataDir = mkdtempSync(join(tmpdir(), 'oi-front-'))
const accounts = new Accounts({ dataDir })
const { secret: key } = accounts.createFirstKey()!
const handlers = new Handlers({
  backend: { state: () => 'ready', decider: () => decider },
  accounts,
  wire,
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
