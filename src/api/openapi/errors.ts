/**
 * Error replies: one response per status, with its codes from the error table.
 *
 * @module
 */

import {
  adminCodes,
  type ErrorCode,
  errorTable,
  errorTypeOf,
  type InterfaceCode,
} from '../../errors.js'
import { ErrorSchema } from '../error-schema.js'
import { type Part, reference, type SchemaComponents } from './components.js'
import { headersOf } from './headers.js'

/** The codes of the interface; the admin API has its own (api/admin). */
const codes = Object.keys(errorTable).filter(
  (code) => !(adminCodes as readonly string[]).includes(code),
) as InterfaceCode[]

export type ErrorStatus = (typeof errorTable)[InterfaceCode]['status']

const when: Readonly<Record<ErrorStatus, string>> = {
  400:
    'Of the right shape, but not acceptable: an unknown model or type of question, too many ' +
    'questions, options or levels, a bad image, a state that is too long, a batch that is too ' +
    'large, another content type.',
  401: 'The key is missing, wrong, revoked, blocked or expired.',
  402: "The workspace's balance is used up, or its budget.",
  404: 'There is no such route.',
  405: 'The path takes other methods.',
  408: 'The head or the body of the request did not come in time; the connection is closed.',
  413: 'The body is larger than the server takes.',
  415: 'The Content-Encoding of the body is not supported; accept-encoding lists the supported ones.',
  417: "The server does not support the Expect header's value.",
  422: 'The body is not JSON, or a field is missing or of a wrong type.',
  429: 'The workspace has made too many requests, or has too many under way.',
  431: 'The head of the request is larger than the server takes.',
  500: 'A fault of the server; its log has more under the id of the request.',
  503: 'Too much is waiting, the model is being loaded, or the server is shutting down.',
  504: 'The request was not answered in time.',
  505: 'The request is of another version of HTTP than 1.1 and 1.0.',
}

type ErrorExample = readonly [code: ErrorCode, message: string, param?: string]

/** At least one for every code of every status. */
const examples: readonly ErrorExample[] = [
  [
    'ERR_BODY_INVALID',
    'questions.team.criteria: expected an object of options, got an array',
    'questions.team.criteria',
  ],
  [
    'ERR_REQUEST_UNACCEPTABLE',
    'questions.team.criteria: expected 1 to 255 options, got 300',
    'questions.team.criteria',
  ],
  [
    'ERR_STATE_TOO_LONG',
    'state: state and longest question take 5210 tokens (5190 and 20), the limit is 4096',
    'state',
  ],
  ['ERR_IDEMPOTENCY_KEY', 'Idempotency-Key: this key was sent with another body'],
  ['ERR_BODY_TOO_LARGE', 'The body is over the limit of 4194304 bytes'],
  [
    'ERR_ENCODING',
    'Content-Encoding: expected one of gzip, deflate, br, zstd, or none, got "compress"',
  ],
  ['ERR_HTTP_MALFORMED', 'Host: expected exactly one such header, got 0'],
  ['ERR_HEAD_TIMEOUT', 'The head of the request did not come in time'],
  ['ERR_BODY_TIMEOUT', 'The body of the request did not come within 60000 ms (--body-timeout-ms)'],
  ['ERR_EXPECTATION', 'Expect: this server takes 100-continue alone'],
  ['ERR_HEAD_TOO_LARGE', 'The head of the request is over 16 KiB'],
  ['ERR_HTTP_VERSION', 'This server speaks HTTP/1.1 and HTTP/1.0'],
  ['ERR_API_KEY', 'No API key was sent: send Authorization: Bearer <key>'],
  ['ERR_BALANCE', 'The balance of the workspace default is used up'],
  ['ERR_RATE_LIMIT', 'The workspace default has 6000 requests per minute, used up'],
  ['ERR_CONCURRENCY', 'The workspace has 64 requests under way, its limit, and 32 waiting'],
  [
    'ERR_NOT_FOUND',
    'There is no such route: did you mean /v1/systemone? All of them are in GET /openapi.json',
  ],
  ['ERR_METHOD_NOT_ALLOWED', 'This route takes POST'],
  ['ERR_OVERLOADED', 'The model is still being loaded'],
  [
    'ERR_TIMEOUT',
    'The request was not answered within 60000 ms; example-model evaluates 152 tokens a second, ' +
      'and had 3400 to do: about 23 s more',
  ],
  [
    'ERR_ENGINE_INTERNAL',
    'The server failed; its log has more under req_0123456789abcdef0123456789abcdef',
  ],
]

const statuses = [...new Set(codes.map((code) => errorTable[code].status))].sort()

const componentOf = (status: ErrorStatus) => `Error${status}`

/** All error replies, by the names of their components. */
export function errorResponses(components: SchemaComponents): Part {
  return Object.fromEntries(
    statuses.map((status) => [componentOf(status), responseOf(status, components)]),
  )
}

/** References to the replies of these statuses, by status. */
export function errorReferences(of: readonly ErrorStatus[]): Part {
  return Object.fromEntries(
    of.map((status) => [status, reference('responses', componentOf(status))]),
  )
}

/** Of an error with one of these codes. */
export function errorSchema(of: readonly ErrorCode[], components: SchemaComponents): Part {
  const wires = [...new Set(of.map((code) => errorTable[code].wire))]
  const code = { properties: { error: { properties: { code: { enum: wires } } } } }
  return { allOf: [components.add(ErrorSchema), code] }
}

function responseOf(status: ErrorStatus, components: SchemaComponents): Part {
  const own = codes.filter((code) => errorTable[code].status === status)
  const shown = examples.filter(([code]) => errorTable[code].status === status)
  return {
    description: when[status],
    headers: headersOf(status),
    content: {
      'application/json': {
        schema: errorSchema(own, components),
        examples: Object.fromEntries(shown.map((example) => [nameOf(example), written(example)])),
      },
    },
  }
}

function nameOf([code]: ErrorExample): string {
  return code.slice('ERR_'.length).toLowerCase()
}

function written([code, message, param]: ErrorExample) {
  const { status, wire } = errorTable[code]
  const type = errorTypeOf(status)
  const error = { code: wire, message, type, ...(param !== undefined && { param }) }
  return { value: { error, detail: message } }
}
