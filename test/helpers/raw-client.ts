/**
 * HTTP/1.1 by hand, for what fetch() cannot do: pipelining, cut uploads, odd bytes.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

interface RawReply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

export class RawClient {
  readonly socket: Socket
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  #received = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (data) => (this.#received = Buffer.concat([this.#received, data])))
    socket.on('error', () => {})
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new RawClient(socket)))
      socket.once('error', reject)
      socket.setNoDelay(true)
    })
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** The next reply. @param head - It answers a HEAD request: no body follows. */
  async reply(head = false): Promise<RawReply> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n')
      if (end >= 0) {
        const { status, headers } = headOf(this.#received.toString('latin1', 0, end))
        const length = head ? 0 : Number(headers['content-length'] ?? 0)
        if (this.#received.length >= end + 4 + length) {
          const body = this.#received.toString('utf8', end + 4, end + 4 + length)
          this.#received = this.#received.subarray(end + 4 + length)
          return { status, headers, body }
        }
      }
      if (this.socket.closed) throw new Error('closed before a whole reply')
      await sleep(2)
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  /** Forgets the received bytes. */
  clear(): void {
    this.#received = Buffer.alloc(0)
  }

  /** Received bytes that belong to no reply yet. */
  get rest(): string {
    return this.#received.toString('latin1')
  }
}

function headOf(text: string): Omit<RawReply, 'body'> {
  const [line = '', ...fields] = text.split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(line.split(' ')[1]), headers }
}

/** The replies in a text, one behind the other, but for interim ones. */
export function repliesIn(text: string): RawReply[] {
  const replies: RawReply[] = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) throw new Error(`half a reply: ${text.slice(at)}`)
    const head = headOf(text.slice(at, end))
    at = end + 4 + Number(head.headers['content-length'] ?? 0)
    if (head.status !== 100) replies.push({ ...head, body: text.slice(end + 4, at) })
  }
  return replies
}

interface ServedRequest {
  /** Whether the client sends its end behind the bytes. Default false. */
  readonly end?: boolean
  /** How long the server may be silent, milliseconds. */
  readonly quietMs: number
  /** Whether no more is expected. Default: never. */
  readonly isEnough?: (text: string) => boolean
}

/** All that the server sends until it closes a connection of its own, or is silent. */
export async function exchange(
  port: number,
  bytes: string,
  { end = false, quietMs, isEnough = () => false }: ServedRequest,
): Promise<{ text: string; closed: boolean }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  let closed = false
  let atMs = performance.now()
  socket.on('data', (data) => {
    text += data.toString('latin1')
    atMs = performance.now()
  })
  socket.on('error', () => {})
  socket.on('end', () => (closed = true))
  if (end) socket.end(bytes, 'latin1')
  else socket.write(bytes, 'latin1')
  while (!closed && performance.now() - atMs < quietMs && !isEnough(text)) await sleep(2)
  await sleep(20)
  socket.destroy()
  return { text, closed }
}

/** The text of a request; `content-length` is set for a body unless given. */
export function request(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): string {
  const all: Record<string, string> = { host: 'test', ...headers }
  if (body !== '' && !('content-length' in all)) {
    all['content-length'] = String(Buffer.byteLength(body))
  }
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n${body}`
}
