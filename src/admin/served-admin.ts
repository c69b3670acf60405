/**
 * One request of the admin API: its origin, its session, its operation, and the reply.
 *
 * The checks run in this order, and the first that fails is the reply: origin address, route, own
 * page, session, token, query, size and type of the body, the body itself.
 *
 * @module
 */

import { readAdminBody, readAdminQuery } from '../api/admin/check.js'
import type { AdminOperationId } from '../api/admin/operations.js'
import { decodeUtf8 } from '../api/json.js'
import type { Timings } from '../decide/types.js'
import { type ErrorCode, OiError } from '../errors.js'
import { Body } from '../http/bodies/body.js'
import type { ArrivingBody } from '../http/bodies/body-clock.js'
import { ServedRequest } from '../http/requests/served-request.js'
import { errorContent } from '../http/reply/reply.js'
import { type AdminHandler, type AdminHandlerId, type Call, TextReply } from './call.js'
import type { AreaContext } from './context.js'
import { browserOf, cookieHeaders, cookieName } from './guard.js'
import { patiently } from '../accounts/patiently.js'
import { matchOperation } from './routes.js'
import { apiHeaders } from './security-headers.js'
import type { Client, Content, Head } from '../http/contract.js'

/** Limit of a body; the playground's requests have their own. */
const mostBodyBytes = 1_048_576

type AnyCall = Call<AdminHandlerId>

export class ServedAdmin extends ServedRequest {
  readonly #context: AreaContext
  readonly #client: Client
  readonly #body = new Body(mostBodyBytes)
  #headers: readonly string[] = []
  /** Runs once the body has arrived; undefined: no body is expected. */
  #withBody: ((text: string) => void) | undefined
  #arriving: ArrivingBody | undefined

  constructor(head: Head, client: Client, context: AreaContext) {
    super(head, client, context)
    this.#context = context
    this.#client = client
  }

  /** Checks the head. Unless that ended the request, its body or its reply comes next. */
  begin(head: Head): void {
    try {
      const { door } = this.#context
      const peer = this.#client.address()
      const origin = door.originOf(head, peer)
      const match = matchOperation(this.method, this.path)
      if ('allow' in match) {
        const error = new OiError('ERR_METHOD_NOT_ALLOWED', `This route takes ${match.allow}`)
        this.answer({ ...errorContent(error, this.id), headers: ['allow', match.allow] })
        return
      }
      const { operationId, operation, id, name } = match
      const session = door.enter(head, peer, operation)
      const query = readAdminQuery(operationId, head.getQuery() ?? '')
      const cookie = cookieName(head)
      const call = {
        ...{ query, id, name, origin, session, ...door.actorOf(origin) },
        gone: () => this.ended,
        browser: browserOf(head),
        keep: (secret: string | undefined, browser?: string) => {
          this.#headers = cookieHeaders(cookie, origin.secure, secret, browser)
        },
      }
      const run = (body: unknown) => this.#run(operationId, { ...call, body } as AnyCall)
      if (operation.body === undefined) run(undefined)
      else this.#expectBody(head, (text) => run(readAdminBody(operationId, text)))
    } catch (error) {
      this.fail(error)
    }
  }

  override receive(chunk: Uint8Array, last: boolean): void {
    if (this.ended || this.#withBody === undefined) return
    try {
      this.#arriving?.receive(chunk.length)
      if (!this.#body.push(chunk)) throw tooLarge()
      if (!last) return
      const withBody = this.#withBody
      this.#withBody = undefined
      this.#arriving?.end()
      withBody(decodeUtf8(this.#body.bytes))
    } catch (error) {
      this.fail(error)
    }
  }

  override fail(error: unknown): void {
    super.fail(shownError(error))
  }

  override answer(content: Content, timings?: Timings): void {
    const headers = [...apiHeaders, ...this.#headers, ...(content.headers ?? [])]
    super.answer({ ...content, headers }, timings)
  }

  protected override onEnd(): void {
    this.#withBody = undefined
    this.#arriving?.end()
  }

  #expectBody(head: Head, withBody: (text: string) => void): void {
    requireJson(head)
    const length = head.getHeader('content-length')
    if (Number(length) > mostBodyBytes) throw tooLarge()
    this.#withBody = withBody
    this.#arriving = this.#context.bodyClock.begin((error) => this.fail(error))
    // As for other posts: uWebSockets.js does not report the end of an empty body.
    if (length === '0') this.receive(new Uint8Array(0), true)
  }

  #run(operationId: AdminOperationId, call: AnyCall): void {
    const handler = this.#context.handlers[
      operationId as AdminHandlerId
    ] as AdminHandler<AdminHandlerId>
    patiently(() => handler(call))
      .then((answered) => this.answer(contentOf(answered)))
      .catch((error: unknown) => this.fail(error))
  }
}

/** A handler without a result has done its work: 204. */
function contentOf(answered: unknown): Content {
  if (answered === undefined) return { status: 204, body: '' }
  if (!(answered instanceof TextReply)) return { status: 200, body: JSON.stringify(answered) }
  const { type, text, fileName } = answered
  const disposition = ['content-disposition', `attachment; filename="${fileName}"`]
  return { status: 200, body: text, type, headers: fileName === undefined ? [] : disposition }
}

/** A form of another page cannot send JSON without a preflight. */
function requireJson(head: Head): void {
  const [type] = head.getHeader('content-type').split(';', 1)
  if (type!.trim().toLowerCase() !== 'application/json') {
    throw new OiError('ERR_REQUEST_UNACCEPTABLE', 'Content-Type: expected application/json')
  }
  const encoding = head.getHeader('content-encoding')
  if (encoding === '' || encoding.trim().toLowerCase() === 'identity') return
  throw new OiError('ERR_ENCODING', 'Content-Encoding: expected none')
}

function tooLarge(): OiError {
  return new OiError('ERR_BODY_TOO_LARGE', `The body is over the limit of ${mostBodyBytes} bytes`)
}

/**
 * Elsewhere these are faults of the server, whose text stays in its log; here they are mistakes in
 * the request, and the administrator may see the text.
 */
const mistakes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['ERR_ACCOUNTS', 'ERR_CONFIG', 'ERR_INVALID_ARGUMENT', 'ERR_READOUT'] as const),
  ...(['ERR_CALIBRATION', 'ERR_MODEL_NOT_FOUND', 'ERR_MODEL_LOAD'] as const),
  ...(['ERR_MODEL_UNSUPPORTED', 'ERR_MODEL_MEMORY', 'ERR_PACKAGE_NOT_FOUND'] as const),
  'ERR_PULL',
])

/** The error as the administrator sees it. */
function shownError(error: unknown): unknown {
  if (!(error instanceof OiError) || !mistakes.has(error.code)) return error
  const { message, param } = error
  const details = { cause: error, ...(param !== undefined && { param }) }
  return new OiError('ERR_REQUEST_UNACCEPTABLE', message, details)
}
