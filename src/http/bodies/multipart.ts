/**
 * `multipart/form-data` (RFC 7578): one part of JSON, and files that it names.
 *
 * The whole body is in memory, within its bound, so parts are views of it and are found by
 * searching for the boundary: nothing is copied, and nothing waits for events.
 *
 * @module
 */

import { placeOf, shortened } from '../../api/place.js'
import type { Steps } from '../../api/turns.js'
import { OiError } from '../../errors.js'

export interface Form {
  readonly json: Uint8Array
  /** The other parts, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>
}

interface Part {
  readonly name: string
  readonly isFile: boolean
  readonly type: string
  readonly content: Buffer
}

const mostParts = 64
const mostHeadBytes = 4096
/** This many bytes are searched in a fraction of a millisecond. */
const windowBytes = 2 ** 20

/**
 * @param contentType - The value of the header, which begins with `multipart/form-data`.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if it has no boundary.
 */
export function boundaryOf(contentType: string): string {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary !== undefined) return boundary
  throw new OiError('ERR_REQUEST_UNACCEPTABLE', 'Content-Type: expected a boundary')
}

/** @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` for anything but such a body. */
export function* readForm(bytes: Buffer, boundary: string): Steps<Form> {
  const parts = yield* readParts(bytes, boundary)
  const typed = parts.filter(({ type }) => /^application\/json\s*(?:;|$)/i.test(type))
  const texts = typed.length > 0 ? typed : parts.filter(({ isFile }) => !isFile)
  const [json] = texts
  if (json === undefined || texts.length > 1) {
    throw wrong(`expected one part of the type application/json, got ${texts.length}`)
  }
  const files = new Map<string, Uint8Array>()
  for (const part of parts) {
    if (part === json) continue
    if (files.has(part.name)) {
      throw wrong(`expected each name once, got ${JSON.stringify(shortened(part.name))} twice`)
    }
    files.set(part.name, part.content)
  }
  return { json: json.content, files }
}

/**
 * Refuses files that no asset names: everything sent is read or refused.
 *
 * @param requests - Parsed, of any shape.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
 */
export function requireNamed(
  files: ReadonlyMap<string, unknown>,
  requests: readonly object[],
): void {
  const named = new Set<unknown>()
  for (const { assets } of requests as { assets?: unknown }[]) {
    if (typeof assets !== 'object' || assets === null) continue
    for (const asset of Object.values(assets) as ({ part?: unknown } | null)[]) {
      named.add(asset?.part)
    }
  }
  for (const name of files.keys()) {
    if (named.has(name)) continue
    const place = placeOf('', name)
    const message = `${place}: expected one of the assets to name this part`
    throw new OiError('ERR_REQUEST_UNACCEPTABLE', message, { param: place })
  }
}

function* readParts(bytes: Buffer, boundary: string): Steps<Part[]> {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  const separator = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const parts: Part[] = []
  // A preamble may stand before the first boundary; it is ignored.
  const begins = bytes.subarray(0, delimiter.length).equals(delimiter)
  const first = begins ? 0 : (yield* find(bytes, separator, 0)) + 2
  if (!begins && first < 2) throw wrong('expected its boundary')
  for (let at = first + delimiter.length; ;) {
    if (bytes.toString('latin1', at, at + 2) === '--') return parts
    if (parts.length === mostParts) throw wrong(`expected at most ${mostParts} parts`)
    const line = bytes.indexOf('\r\n', at)
    // Only white space may follow a boundary.
    if (line < 0 || bytes.toString('latin1', at, Math.min(line, at + 100)).trim() !== '') {
      throw wrong('expected a line break after each boundary')
    }
    const end = yield* find(bytes, separator, line)
    if (end < 0) throw wrong('expected its boundary at the end')
    parts.push(readPart(bytes.subarray(line, end)))
    at = end + separator.length
  }
}

/** @param bytes - From the line break before the part's head. */
function readPart(bytes: Buffer): Part {
  const end = bytes.subarray(0, mostHeadBytes).indexOf('\r\n\r\n')
  if (end < 0) throw wrong('expected a part to have a head')
  const fields = new Map(
    bytes
      .toString('utf8', 2, end)
      .split('\r\n')
      .map((line): [string, string] => {
        const colon = line.indexOf(':')
        return [
          line.slice(0, Math.max(0, colon)).trim().toLowerCase(),
          line.slice(colon + 1).trim(),
        ]
      }),
  )
  const disposition = fields.get('content-disposition') ?? ''
  const name = parameterOf(disposition, 'name')
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) {
    throw wrong('expected each part to have a name')
  }
  const coding = fields.get('content-transfer-encoding') ?? 'binary'
  if (!/^(?:binary|8bit|7bit)$/i.test(coding)) {
    throw wrong(`expected parts as they are, got ${JSON.stringify(shortened(coding))}`)
  }
  const isFile = /;\s*filename\*?\s*=/i.test(disposition)
  const type = fields.get('content-type') ?? ''
  return { name, isFile, type, content: bytes.subarray(end + 4) }
}

/** In names, browsers write quotes and line breaks as `%22`, `%0D` and `%0A`, others use `\`. */
function parameterOf(disposition: string, name: string): string | undefined {
  const pattern = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i')
  const [, quoted, plain] = pattern.exec(disposition) ?? []
  return (
    quoted?.replaceAll(
      /\\(["\\])|%(22|0D|0A)/gi,
      (_, escaped: string, code: string) => escaped ?? String.fromCharCode(parseInt(code, 16)),
    ) ?? plain
  )
}

/** Searches for bytes in steps. @returns -1 if not found. */
function* find(bytes: Buffer, wanted: Buffer, from: number): Steps<number> {
  for (let at = from; at < bytes.length; at += windowBytes) {
    const found = bytes.subarray(at, at + windowBytes + wanted.length - 1).indexOf(wanted)
    if (found >= 0) return at + found
    yield
  }
  return -1
}

function wrong(rule: string): OiError {
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `multipart/form-data: ${rule}`)
}
