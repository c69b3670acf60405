/**
 * Replies out of a stream of bytes: HTTP/1.1 with a length, in chunks, or up to the end.
 *
 * @module
 */

export interface HttpReply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** What the server sent is not HTTP. */
export class Malformed extends Error {}

const endOfHead = '\r\n\r\n'
const statusLines = { '1.1': /^HTTP\/1\.1 (\d{3}) [ -~]*$/, any: /^HTTP\/1\.[01] (\d{3})(?: .*)?$/ }
const header = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([ -~\u0080-\u00ff]*)$/

export class ReplyReader {
  readonly #statusLine: RegExp
  #bytes: Buffer = Buffer.alloc(0)

  /** @param version - Of HTTP. */
  constructor(version: keyof typeof statusLines = '1.1') {
    this.#statusLine = statusLines[version]
  }

  push(data: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? data : Buffer.concat([this.#bytes, data])
  }

  /** Bytes that no reply has taken yet. */
  get pending(): number {
    return this.#bytes.length
  }

  /**
   * Takes the next whole reply.
   *
   * @param headOnly - It answers HEAD: no body follows.
   * @param ended - No more bytes will come, which is what ends a reply without a length.
   * @returns Undefined if there is none yet.
   * @throws {@link Malformed}.
   */
  next(headOnly: boolean, ended: boolean): HttpReply | undefined {
    const end = this.#bytes.indexOf(endOfHead)
    if (end < 0) return undefined
    const [line, ...fields] = this.#bytes.toString('latin1', 0, end).split('\r\n')
    const status = Number(this.#statusLine.exec(line!)?.[1])
    if (Number.isNaN(status)) throw new Malformed(`the status line ${JSON.stringify(line)}`)
    const headers = new Map(fields.map(readField))
    const start = end + endOfHead.length
    const whole = headOnly || status < 200 ? noBody(start) : this.#body(headers, start, ended)
    if (whole === undefined) return undefined
    this.#bytes = this.#bytes.subarray(whole.end)
    return { status, headers, body: whole.body }
  }

  #body(
    headers: ReadonlyMap<string, string>,
    start: number,
    ended: boolean,
  ): { body: Buffer; end: number } | undefined {
    if (headers.get('transfer-encoding') === 'chunked') return this.#chunks(start)
    const length = headers.get('content-length')
    if (length === undefined) {
      return ended ? { body: this.#bytes.subarray(start), end: this.#bytes.length } : undefined
    }
    if (!/^\d+$/.test(length)) throw new Malformed(`content-length: ${length}`)
    const end = start + Number(length)
    return this.#bytes.length < end ? undefined : { body: this.#bytes.subarray(start, end), end }
  }

  #chunks(start: number): { body: Buffer; end: number } | undefined {
    const parts: Buffer[] = []
    for (let at = start; ;) {
      const lineEnd = this.#bytes.indexOf('\r\n', at)
      if (lineEnd < 0) return undefined
      const size = this.#bytes.toString('latin1', at, lineEnd)
      if (!/^[0-9a-fA-F]{1,8}$/.test(size)) throw new Malformed(`a chunk of the size ${size}`)
      const [from, to] = [lineEnd + 2, lineEnd + 2 + Number.parseInt(size, 16)]
      if (this.#bytes.length < to + 2) return undefined
      if (this.#bytes.toString('latin1', to, to + 2) !== '\r\n') {
        throw new Malformed('a chunk that is longer than its size')
      }
      if (from === to) return { body: Buffer.concat(parts), end: to + 2 }
      parts.push(this.#bytes.subarray(from, to))
      at = to + 2
    }
  }
}

function noBody(end: number): { body: Buffer; end: number } {
  return { body: Buffer.alloc(0), end }
}

function readField(line: string): [string, string] {
  const [, name, value] = header.exec(line) ?? []
  if (name === undefined) throw new Malformed(`the header ${JSON.stringify(line)}`)
  return [name.toLowerCase(), value!]
}
