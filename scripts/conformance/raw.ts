/**
 * Raw bytes over a new connection, for requests that an HTTP client never sends.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Failure, show } from './expect.js'
import type { Reply } from './client.js'

export interface RawReply extends Reply {
  /** As `HTTP/1.1`. */
  readonly version: string
}

export interface RawOptions {
  /** Reads nothing until everything has been written, as simple clients do. */
  readonly writesFirst?: boolean
}

const limitMs = 30_000
const endOfHead = '\r\n\r\n'

/** @throws {@link Failure} without a whole reply, or if it is not HTTP. */
export async function exchangeRaw(
  base: URL,
  bytes: string | Uint8Array,
  { writesFirst = false }: RawOptions = {},
): Promise<RawReply> {
  const received = await exchange(base, (socket) =>
    converse(socket, bytes, (got) => lengthOf(got) !== undefined, writesFirst),
  )
  return replyOf(received.subarray(0, lengthOf(received)))
}

/** All replies until the server closes. @throws {@link Failure} if one is not whole or not HTTP. */
export async function exchangeAll(base: URL, bytes: string): Promise<readonly RawReply[]> {
  let left = await exchange(base, (socket) => converse(socket, bytes, () => false))
  const replies: RawReply[] = []
  while (left.length > 0) {
    const length = lengthOf(left) ?? left.length
    replies.push(replyOf(left.subarray(0, length)))
    left = left.subarray(length)
  }
  return replies
}

async function exchange(base: URL, act: (socket: Socket) => Promise<Buffer>): Promise<Buffer> {
  const socket = open(base)
  try {
    return await act(socket)
  } catch (error) {
    const { message } = error as Error
    throw new Failure(`no whole reply: ${message}`)
  } finally {
    socket.destroy()
  }
}

function open({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connect(Number(port || 80), host)
  // No rule of the interface is about certificates.
  return connectTls({ host, port: Number(port || 443), rejectUnauthorized: false })
}

function converse(
  socket: Socket,
  bytes: string | Uint8Array,
  isWhole: (received: Buffer) => boolean,
  writesFirst = false,
) {
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0)
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      if (isWhole(received)) resolve(received)
    })
    socket.on('end', () => resolve(received))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.setTimeout(limitMs, () => reject(new Error(`nothing for ${limitMs / 1000} s`)))
    if (writesFirst) socket.pause()
    socket.write(bytes, () => socket.resume())
  })
}

/**
 * Bytes of the first reply, if it is there; without a length in its head the connection's end ends
 * it.
 */
function lengthOf(received: Buffer): number | undefined {
  const end = received.indexOf(endOfHead)
  if (end === -1) return undefined
  const head = received.toString('latin1', 0, end)
  const start = end + endOfHead.length
  if (/^transfer-encoding: *chunked/im.test(head)) {
    const last = received.indexOf(`0${endOfHead}`, start)
    return last === -1 ? undefined : last + 1 + endOfHead.length
  }
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  const whole = length === undefined ? undefined : start + Number(length)
  return whole === undefined || received.length < whole ? undefined : whole
}

function replyOf(received: Buffer): RawReply {
  const end = received.indexOf(endOfHead)
  const [line = '', ...fields] = received.toString('latin1', 0, Math.max(0, end)).split('\r\n')
  const [, version, status] = /^(HTTP\/1\.[01]) (\d{3})(?: |$)/.exec(line) ?? []
  if (version === undefined) throw new Failure(`expected HTTP, got ${show(received.toString())}`)
  const headers = fields.map((field) => {
    const colon = field.indexOf(':')
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const
  })
  const named = Object.fromEntries(headers)
  const body = received.subarray(end + endOfHead.length)
  const isChunked = named['transfer-encoding'] === 'chunked'
  const text = (isChunked ? joined(body) : body).toString('utf8')
  return { version, status: Number(status), headers: named, text }
}

/** The chunks of a body, joined. */
function joined(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (lineEnd === -1 || Number.isNaN(size)) throw new Failure('a chunk is cut off')
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
