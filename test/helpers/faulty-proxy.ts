/**
 * A proxy that passes everything on and changes one thing.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http'
import { compressors, replyDecoders } from './compressed.js'
import { whileServing } from './http-server.js'

export interface PassedRequest {
  readonly method: string
  readonly path: string
  /** The version of HTTP, as `1.1`. */
  readonly version: string
  readonly headers: Record<string, string>
  body: Buffer
}

export interface PassedReply {
  status: number
  readonly headers: Record<string, string>
  /** The body, decompressed. */
  text: string
}

export interface Fault {
  /** Changes the request in place, and may be asynchronous. */
  readonly request?: (request: PassedRequest) => unknown
  /** Changes the reply in place; a stream of lines in pieces of whole lines. */
  readonly reply?: (reply: PassedReply, request: PassedRequest) => void
  /** The whole reply, as bytes, to a client whose bytes are not a request. */
  readonly unreadable?: string
  /** Whether a request is cut off after its head. */
  readonly cutsOff?: (headers: IncomingHttpHeaders) => boolean
  /** Keeps the lines of a stream until its end. */
  readonly holdsLines?: boolean
  /** Takes the first of two `Authorization` headers. */
  readonly takesFirstKey?: boolean
  /** Closes a connection on which a request comes before the reply to another. */
  readonly dropsEarly?: boolean
}

/** An error in the interface's form, for a request that this proxy cannot pass on. */
const refusal = (message: string) =>
  JSON.stringify({ error: { code: 'invalid_request', message }, detail: message })
const unreadable = refusal('expected HTTP/1.1')
export const usualUnreadable =
  'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n' +
  `content-length: ${unreadable.length}\r\n\r\n${unreadable}`

/** Headers that belong to the connection, not to the message. */
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length']

/** Runs the proxy, passes its address to `use`, and always closes it. */
export async function withProxy<T>(
  target: string,
  fault: Fault,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const waiting = new WeakMap<object, number>()
  const server = createServer((incoming, outgoing) => {
    const { socket } = incoming
    const early = waiting.get(socket) ?? 0
    waiting.set(socket, early + 1)
    outgoing.once('close', () => waiting.set(socket, waiting.get(socket)! - 1))
    if (fault.cutsOff?.(incoming.headers) || (fault.dropsEarly && early > 0)) {
      socket.resetAndDestroy()
      return
    }
    // Node keeps the first alone.
    if (!fault.takesFirstKey && (incoming.headersDistinct['authorization']?.length ?? 0) > 1) {
      outgoing.writeHead(400, { 'content-type': 'application/json' })
      outgoing.end(refusal('Authorization: expected one, got two'))
      return
    }
    const pass = async () => {
      const request: PassedRequest = {
        method: incoming.method!,
        path: incoming.url!,
        version: incoming.httpVersion,
        headers: headersOf(incoming),
        body: await bytesOf(incoming),
      }
      await fault.request?.(request)
      const { message, ...reply } = await forward(target, request)
      for await (reply.text of textsOf(message, fault.holdsLines)) {
        fault.reply?.(reply, request)
        if (!outgoing.headersSent) outgoing.writeHead(reply.status, reply.headers)
        const coding = reply.headers['content-encoding']
        outgoing.write(
          coding === undefined ? reply.text : compressors[coding]![1](Buffer.from(reply.text)),
        )
      }
      outgoing.end()
    }
    pass().catch(() => outgoing.destroy())
  })
  server.on('clientError', (_, socket) => socket.end(fault.unreadable ?? usualUnreadable))
  return whileServing(server, use)
}

/** The decompressed body, in one piece; an uncompressed stream of lines in pieces of whole lines. */
async function* textsOf(message: IncomingMessage, holdsLines = false): AsyncGenerator<string> {
  const { 'content-encoding': coding, 'content-type': type } = message.headers
  if (holdsLines || coding !== undefined || type !== 'application/x-ndjson') {
    const decode = replyDecoders[coding ?? ''] ?? ((bytes) => bytes)
    yield Buffer.from(decode(await bytesOf(message))).toString('utf8')
    return
  }
  let rest = ''
  for await (const part of message.setEncoding('utf8')) {
    const whole = (rest + part).lastIndexOf('\n') + 1
    if (whole > 0) yield (rest + part).slice(0, whole)
    rest = (rest + part).slice(whole)
  }
  if (rest !== '') yield rest
}

interface Forwarded extends PassedReply {
  readonly message: IncomingMessage
}

function forward(target: string, request: PassedRequest): Promise<Forwarded> {
  const { method, path, headers: asked, body } = request
  return new Promise((resolve, reject) => {
    const length = method === 'GET' ? {} : { 'content-length': String(body.length) }
    const sent = httpRequest(
      target + path,
      { method, headers: { ...asked, ...length } },
      (message) =>
        resolve({ status: message.statusCode!, headers: headersOf(message), text: '', message }),
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

function headersOf(message: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message.headers)
      .filter(([name]) => !ofConnection.includes(name))
      .map(([name, value]) => [name, String(value)]),
  )
}
