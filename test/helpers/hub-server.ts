/**
 * A hub on this machine: it lists repositories, serves ranges of their files, and misbehaves as a
 * test tells it to.
 */
import { createHash } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { listening } from './vacant-port.js'

export interface Asked {
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** First and last byte; undefined for a request of the whole file. */
  readonly range: readonly [number, number] | undefined
  /** Number of earlier requests for bytes of a file, without those for one byte. */
  readonly number: number
}

/** A fault in a reply. */
interface Trouble {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Closes the connection after this many bytes of the body. */
  readonly cutAfter?: number
  /** Sends nothing more after this many bytes of the body. */
  readonly silentAfter?: number
  readonly ignoresRange?: boolean
  /** States no length, of a whole file: the end of the connection is the file's. */
  readonly lengthless?: boolean
  /** The size in `content-range`. */
  readonly total?: number
  /** Sends other bytes than the file's. */
  readonly bytes?: Buffer
  readonly etag?: string
  /** Sends more than the requested range. */
  readonly extra?: Buffer
  /** Sends a range that begins this much later. */
  readonly shift?: number
}

interface HubFile {
  readonly bytes: Buffer
  /** A false listing. */
  readonly listed?: { readonly size?: number; readonly sha256?: string | undefined }
}

export class HubServer {
  origin = ''
  /** By repository, `owner/name`, and path. */
  readonly repositories: Record<string, Record<string, HubFile>> = {}
  /** By the path of the address. */
  readonly files: Record<string, Buffer> = {}
  readonly asked: Asked[] = []
  trouble: (asked: Asked) => Trouble | undefined = () => undefined
  commit = 'a'.repeat(40)
  #number = 0
  #server: Server | undefined

  /** @param tls - Certificate and key, for HTTPS. */
  static async start(t: Test, tls?: { cert: Buffer; key: Buffer }): Promise<HubServer> {
    const hub = new HubServer()
    const listener: RequestListener = (request, response) => {
      const { pathname, search } = new URL(request.url!, 'http://hub')
      const path = decodeURIComponent(pathname)
      void hub.#answer({ path, query: search, headers: request.headers }, response)
    }
    const server = tls ? createTlsServer(tls, listener) : createServer(listener)
    hub.#server = server
    hub.origin = `${tls ? 'https' : 'http'}://127.0.0.1:${await listening(server)}`
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    return hub
  }

  /** Refuses connections for a while. */
  stopListening(ms: number): void {
    const { port } = this.#server!.address() as AddressInfo
    this.#server!.close()
    setTimeout(() => this.#server!.listen(port, '127.0.0.1'), ms)
  }

  /** Adds a file with its own address. */
  serve(path: string, bytes: Buffer): string {
    this.files[path] = bytes
    return this.origin + path
  }

  /** Requests for more than one byte of a file. */
  get transfers(): readonly Asked[] {
    return this.asked.filter(({ range }) => range !== undefined && range[1] > 0)
  }

  async #answer(
    { path, query, headers }: Pick<Asked, 'path' | 'query' | 'headers'>,
    response: ServerResponse,
  ): Promise<void> {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const range = first === undefined ? undefined : ([Number(first), Number(last)] as const)
    const asked = { path, query, headers, range, number: this.#number }
    this.asked.push(asked)
    if (range !== undefined && range[1] > 0) this.#number++
    const trouble = this.trouble(asked) ?? {}
    if (trouble.status !== undefined) {
      response.writeHead(trouble.status, trouble.headers).end()
      return
    }
    const listing = this.#listing(path)
    if (listing !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listing))
      return
    }
    const bytes = trouble.bytes ?? this.#bytes(path)
    if (bytes === undefined) response.writeHead(404).end()
    else await send(response, bytes, range, trouble)
  }

  #listing(path: string): object | undefined {
    const [, name] = /^\/api\/models\/([^/]+\/[^/]+)(?:\/revision\/.+)?$/.exec(path) ?? []
    const repository = name === undefined ? undefined : this.repositories[name]
    if (repository === undefined) return undefined
    const siblings = Object.entries(repository).map(([rfilename, { bytes, listed = {} }]) => {
      const size = listed.size ?? bytes.length
      const sha256 = 'sha256' in listed ? listed.sha256 : digestOf(bytes)
      return { rfilename, size, ...(sha256 && { lfs: { sha256, size, pointerSize: 134 } }) }
    })
    return { id: name, sha: this.commit, siblings }
  }

  #bytes(path: string): Buffer | undefined {
    const [, name, file] = /^\/([^/]+\/[^/]+)\/resolve\/[^/]+\/(.+)$/.exec(path) ?? []
    if (name !== undefined) return this.repositories[name]?.[file!]?.bytes
    return this.files[path]
  }
}

async function send(
  response: ServerResponse,
  bytes: Buffer,
  range: Asked['range'],
  trouble: Trouble,
): Promise<void> {
  const { ignoresRange, shift = 0, total = bytes.length, extra } = trouble
  const etag = trouble.etag ?? `"${digestOf(bytes).slice(0, 16)}"`
  const fields = { ...(etag !== '' && { etag }), ...trouble.headers }
  let body = bytes
  if (range === undefined || ignoresRange) {
    const { lengthless = false } = trouble
    response.useChunkedEncodingByDefault = !lengthless
    const length = { 'content-length': body.length }
    response.writeHead(200, { ...fields, ...(lengthless ? { connection: 'close' } : length) })
  } else if (range[0] >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${total}` }).end()
    return
  } else {
    const first = range[0] + shift
    const last = Math.min(range[1] + shift, bytes.length - 1)
    body = bytes.subarray(first, last + 1)
    response.writeHead(206, {
      ...fields,
      'content-range': `bytes ${first}-${last}/${total}`,
      // Without a length, more bytes can follow than were announced.
      ...(extra === undefined && { 'content-length': body.length }),
    })
  }
  const { cutAfter, silentAfter } = trouble
  const sent = cutAfter ?? silentAfter ?? body.length
  await new Promise((resolve) => response.write(body.subarray(0, sent), resolve))
  if (cutAfter !== undefined && trouble.lengthless) {
    response.end()
  } else if (cutAfter !== undefined) {
    // Written bytes are sent first.
    await sleep(5)
    response.destroy()
  } else if (silentAfter === undefined) {
    response.end(extra)
  }
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
