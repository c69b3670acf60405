/**
 * Requests that must be refused before they reach the model, and the expected errors.
 */
import { badJson } from './bad-json.js'
import { badShapes } from './bad-shapes.js'
import { badValues, tooLong } from './bad-values.js'
import { good, withState } from './request-text.js'

export interface BadRequest {
  /** The mistake. */
  readonly what: string
  readonly body: string | Uint8Array
  readonly status: number
  /** The place in the message; `body` for the whole body. */
  readonly place: string
  /** The rest of the message. */
  readonly says: string | RegExp
  readonly headers?: Readonly<Record<string, string>>
  readonly chunked?: true
  /** The engine finds the mistake, by counting tokens. */
  readonly counted?: true
}

export type Row = readonly [
  what: string,
  body: string | Uint8Array,
  place: string,
  says: string | RegExp,
]
type More = Partial<Pick<BadRequest, 'headers' | 'chunked' | 'counted'>>

const rows = (status: number, table: readonly Row[], more: More = {}): BadRequest[] =>
  table.map(([what, body, place, says]) => ({ what, body, place, says, status, ...more }))

const contentTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=a'],
  ...['application/jsonp', 'application/x-ndjson', 'application', 'text/json', '*/*', ';', 'json'],
].flatMap((type) =>
  rows(400, [[`the content type ${type}`, good, 'Content-Type', /expected application\/json/]], {
    headers: { 'content-type': type },
  }),
)

const huge = `"${'x'.repeat(5 << 20)}"`

export const badRequests: readonly BadRequest[] = [
  ...rows(422, badJson),
  ...rows(422, badShapes),
  ...rows(400, badValues),
  ...contentTypes,
  ...rows(400, tooLong, { counted: true }),
  ...rows(413, [['5 MiB', withState(huge), 'The body', /limit of 4194304 bytes/]]),
  ...rows(413, [['5 MiB in chunks', withState(huge), 'The body', /limit of 4194304 bytes/]], {
    chunked: true,
  }),
]
