/**
 * The PROXY protocol, versions 1 and 2: a load balancer's header at the start of each connection,
 * which tells the server the client's address.
 *
 * @module
 */

import type { Socket } from 'node:net'

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const longestLine = 107
/** After the addresses, version 2 may carry more, which is ignored. */
const mostBytes = 4096
const timeoutMs = 5000

/** `undefined`: more bytes are needed; `null`: not a PROXY header. */
type Parsed = { readonly bytes: number; readonly address: string | undefined } | undefined | null

export class ProxyHeaders {
  /** By the addresses of both ends: TLS wraps the socket into another object. */
  readonly #addresses = new Map<string, string>()

  /** The client's address in the header; undefined if it has none. */
  addressOf(socket: Socket): string | undefined {
    return this.#addresses.get(nameOf(socket))
  }

  /**
   * Reads the header from a paused socket, which is destroyed if no header comes within some
   * seconds.
   *
   * @param then - Called when HTTP or TLS comes next.
   */
  read(socket: Socket, then: () => void): void {
    let received = Buffer.alloc(0)
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    const name = nameOf(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      clearTimeout(timer)
      this.#addresses.delete(name)
    })
    const onReadable = () => {
      for (;;) {
        const chunk = socket.read() as Buffer | null
        if (chunk === null) return
        received = Buffer.concat([received, chunk])
        const header = parseProxyHeader(received)
        if (header === undefined && received.length <= mostBytes) continue
        if (header === undefined || header === null) {
          socket.destroy()
          return
        }
        clearTimeout(timer)
        socket.off('readable', onReadable)
        if (header.address !== undefined) this.#addresses.set(name, header.address)
        if (received.length > header.bytes) socket.unshift(received.subarray(header.bytes))
        then()
        return
      }
    }
    socket.on('readable', onReadable)
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** Reads a header at the beginning of the bytes. */
function parseProxyHeader(bytes: Buffer): Parsed {
  const known = Math.min(bytes.length, signature.length)
  if (bytes.subarray(0, known).equals(signature.subarray(0, known))) return parseBinary(bytes)
  const start = 'PROXY '
  const text = bytes.toString('latin1', 0, longestLine)
  if (!text.startsWith(start.slice(0, text.length))) return null
  const end = text.indexOf('\r\n')
  if (end < 0) return text.length < longestLine ? undefined : null
  const [, protocol, source] = text.slice(0, end).split(' ')
  const address = protocol === 'TCP4' || protocol === 'TCP6' ? source : undefined
  return protocol === undefined ? null : { bytes: end + 2, address }
}

function parseBinary(bytes: Buffer): Parsed {
  if (bytes.length < 16) return undefined
  const [kind, family] = [bytes[12]!, bytes[13]! >> 4]
  const length = 16 + bytes.readUInt16BE(14)
  if (kind >> 4 !== 2 || length > mostBytes) return null
  if (bytes.length < length) return undefined
  // A balancer's own connection, such as a health check, has no client.
  if ((kind & 15) === 0) return { bytes: length, address: undefined }
  if (family === 1 && length >= 28) {
    return { bytes: length, address: [...bytes.subarray(16, 20)].join('.') }
  }
  if (family === 2 && length >= 52) {
    const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(16 + 2 * i).toString(16))
    return { bytes: length, address: groups.join(':') }
  }
  return { bytes: length, address: undefined }
}
