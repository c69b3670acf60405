/**
 * Heads of requests that are right HTTP/1.1, whatever they say.
 *
 * @module
 */

import type { Random } from '../../test/helpers/random.js'

export type Field = readonly [name: string, value: string]

export interface Request {
  readonly method: string
  readonly path: string
  /** Of HTTP; `1.1` by default. */
  readonly version?: '1.0'
  readonly fields: readonly Field[]
  readonly body: Buffer
}

const wrongKeys = [
  ...['', 'Bearer', 'Bearer ', 'Basic YTpi', `Bearer oi-${'A'.repeat(43)}`, 'Bearer oi-short'],
  ...[`bearer oi-${'B'.repeat(43)}`, `Bearer oi-${'\u00e9'.repeat(43)}`, 'x'.repeat(1500)],
]
const contentTypes = [
  ...['application/json; charset=utf-8', 'Application/JSON', 'text/plain', 'application/jsonp'],
  ...['', ';', 'application/json,text/plain', '*/*', 'multipart/form-data; boundary=a'],
]
const ids = [
  ...['a', 'A-z_0.9', '.', 'x'.repeat(128), 'x'.repeat(129), 'a b', 'a/b', '\u00e9', '<a>', '{}'],
]
/** Few, so that some come back under other bodies, and some under the same. */
const idempotencyKeys = ['a', 'b', 'c', `${'k'.repeat(255)}`, 'k'.repeat(256), '', 'a b', '\u00e9']
const accepts = [
  ...['application/x-ndjson', '*/*', 'application/x-ndjson;q=0', 'text/html', 'application/*;q=.1'],
  ...['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson, */*;q=0', ';q=', ','],
  ...['application/x-ndjson; q=1.0001', 'application/x-ndjson;q=-1', `a/b;q=${'9'.repeat(400)}`],
]
const more: readonly Field[] = [
  ...accepts.map((value) => ['accept', value] as const),
  ...idempotencyKeys.map((value) => ['idempotency-key', value] as const),
  ...['0', '1', '-1', 'x'].map((value) => ['x-typesafe-retry-count', value] as const),
  ['accept-encoding', 'gzip;q=0, br;q=0.1'],
  ['x-oi-evidence', '1'],
  ['x-oi-evidence', 'yes'],
  ['x-oi-orders', '2'],
  ['x-oi-orders', 'all'],
  ['x-oi-orders', '0'],
  ['accept-encoding', 'gzip, br'],
  ['origin', 'https://example.com'],
  ['origin', 'null'],
  ['x-forwarded-for', '127.0.0.1'],
  ['cookie', `a=${'b'.repeat(300)}`],
  ['connection', 'keep-alive'],
  ['user-agent', 'fuzz'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'br'],
  ['content-encoding', 'gzip, deflate'],
  ['content-encoding', 'identity'],
  ['content-encoding', 'x'],
  ['x', ''],
  ['x-a', '\u00ff\t"\\'],
]

/** All but those about the body's length. @param key - Sent with most. */
export function fieldsOf(random: Random, key: string): readonly Field[] {
  const fields: Field[] = [['host', '127.0.0.1']]
  const chance = (share: number) => random.next() < share
  if (chance(0.95)) fields.push(['authorization', `Bearer ${key}`])
  else if (chance(0.7)) fields.push(['authorization', random.pick(wrongKeys)])
  // Two keys, of which either may be right.
  if (chance(0.02)) fields.push(['authorization', random.pick([`Bearer ${key}`, ...wrongKeys])])
  if (chance(0.9)) fields.push(['content-type', 'application/json'])
  else if (chance(0.7)) fields.push(['content-type', random.pick(contentTypes)])
  if (chance(0.3)) fields.push(['x-request-id', random.pick(ids)])
  if (chance(0.3)) {
    for (let left = 1 + random.integer(4); left > 0; left--) fields.push(random.pick(more))
  }
  if (chance(0.03)) fields.push(random.pick(fields))
  if (chance(0.1)) fields.reverse()
  return chance(0.1) ? fields.map(([name, value]) => [name.toUpperCase(), value]) : fields
}

/** Status line and headers. A character is a byte: Latin-1. */
export function headText({ method, path, version, fields }: Omit<Request, 'body'>): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/${version ?? '1.1'}\r\n${lines.join('')}\r\n`
}

/** The id that the server must give back: one that stands once and fits the interface. */
export function sentId({ fields }: Request): string | undefined {
  const sent = fields.filter(([name]) => name.toLowerCase() === 'x-request-id')
  const [, id = ''] = sent[0] ?? []
  return sent.length === 1 && /^[A-Za-z0-9._-]{1,128}$/.test(id) ? id : undefined
}
