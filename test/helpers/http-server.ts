/**
 * A server on node:http that behaves as a test tells it to, well or badly, and a server that plays
 * the interface.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'
import { listening } from './vacant-port.js'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answering = (request: Received, response: ServerResponse, count: number) => void

export interface TestServer {
  readonly url: string
  /** Every request whose body has arrived. */
  readonly received: readonly Received[]
}

/** @param answer - Gets the number of earlier requests. */
export async function withHttpServer(
  answer: Answering,
  use: (server: TestServer) => Promise<void>,
): Promise<void> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    // A client that leaves during its body gets no answer.
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const bytes = Buffer.concat(pieces)
      const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
      const count = received.push({ method, path, headers, body }) - 1
      answer({ method, path, headers, body }, response, count)
    })
  })
  await whileServing(server, (url) => use({ url, received }))
}

/** Passes a server's address to `use`, and always closes it. */
export async function whileServing<T>(
  server: Server,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const url = `http://127.0.0.1:${await listening(server)}`
  try {
    return await use(url)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
}

/** An error in the interface's form. */
export const refusal = (code: string, message = 'no') => ({
  error: { code, message },
  detail: message,
})

interface Asked {
  readonly state?: unknown
  readonly id?: string
  readonly questions: Record<string, { type: string; criteria?: object }>
}

const usage = { input_tokens: 7, output_tokens: 3 }

/** An answer of the right shape to any request. */
export function decisionOn({ questions }: Asked) {
  const answers = Object.entries(questions).map(([name, { type, criteria = {} }]) => {
    const names = Object.keys(criteria)
    const probabilities = Object.fromEntries(names.map((key) => [key, 1 / names.length]))
    const rest = { probabilities, confidence: 0 }
    if (type === 'noul') return [name, { type, noul: 0.75 }] as const
    if (type === 'choice') return [name, { type, choice: names[0], ...rest }] as const
    const legend = { ...(criteria as string[]) }
    return [name, { type, score: (names.length - 1) / 2, ...rest, legend }] as const
  })
  return { model: 'played', answers: Object.fromEntries(answers), usage, latency_ms: 1 }
}

interface AskedBatch {
  readonly requests?: Asked[]
  readonly states?: unknown[]
  readonly questions?: object
}

/** The items of a batch; a state of `bad` is refused. */
function itemsOf(batch: AskedBatch) {
  const requests =
    batch.requests ?? batch.states!.map((state) => ({ state, questions: batch.questions }) as Asked)
  return requests.map((request, index) => {
    const place = { index, ...(request.id !== undefined && { id: request.id }) }
    if (request.state === 'bad') {
      return { ...place, status: 422, ...refusal('invalid_request', `requests[${index}]: bad`) }
    }
    return { ...place, status: 200, ...decisionOn(request) }
  })
}

const totals = { usage, latency_ms: 2 }

/** Plays the whole interface; streams come in reverse order, in pieces of three bytes. */
export const play: Answering = ({ path, headers, body }, response) => {
  if (path === '/v1/models') return sendJson(response, 200, { models: [{ name: 'played' }] })
  if (path === '/v1/usage') {
    const limits = { requests_per_minute: 6000, concurrent: 64 }
    return sendJson(response, 200, { workspace: 'default', balance: null, limits, usage: [] })
  }
  if (path === '/v1/systemone') {
    return sendJson(response, 200, decisionOn(JSON.parse(body) as Asked), {
      'x-request-id': 'played',
    })
  }
  if (path !== '/v1/systemone/batch') return sendJson(response, 404, refusal('not_found'))
  const results = itemsOf(JSON.parse(body) as AskedBatch)
  if (headers.accept !== 'application/x-ndjson') {
    return sendJson(response, 200, { results, ...totals }, { 'x-request-id': 'played' })
  }
  const lines = [...results.reverse(), totals].map((line) => `${JSON.stringify(line)}\n`)
  void sendPieces(response, Buffer.from(lines.join('')), 3)
}

/** Sends bytes in pieces that the client should receive one by one, as far as a test can tell. */
export async function sendPieces(
  response: ServerResponse,
  bytes: Uint8Array,
  size: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    response.write(bytes.subarray(at, at + size))
    if (at % (100 * size) === 0) await sleep(1)
  }
  response.end()
}
