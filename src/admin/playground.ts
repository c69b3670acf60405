/**
 * Decisions of the playground: requests for decisions with a session instead of a key.
 *
 * With `workspace_id` in its body, a request counts for that workspace in every way, as if it had
 * one of its keys. Without it, it takes no place and is not booked; only the number of such
 * decisions is shown (`Unbooked`).
 *
 * @module
 */

import type { Accounts, Caller } from '../accounts/accounts.js'
import { adminOperations } from '../api/admin/operations.js'
import type { Decider, Timings } from '../decide/types.js'
import { OiError } from '../errors.js'
import { ServedDecision } from '../http/requests/served-decision.js'
import type { Admission } from '../http/access/admission.js'
import type { Unbooked } from './call.js'
import type { AreaContext } from './context.js'
import { apiHeaders } from './security-headers.js'
import type { Client, Content, Head } from '../http/contract.js'

/** The caller of requests without a workspace. */
const nobody: Caller = { keyId: 0, workspaceId: 0, workspace: '' }

export class ServedPlayground extends ServedDecision {
  readonly #context: AreaContext
  readonly #client: Client

  constructor(head: Head, client: Client, context: AreaContext) {
    super(head, client, context)
    this.#context = context
    this.#client = client
  }

  override identify(head: Head): Caller {
    const { door } = this.#context
    const peer = this.#client.address()
    door.originOf(head, peer)
    door.enter(head, peer, adminOperations.decide)
    return (this.caller = nobody)
  }

  override answer(content: Content, timings?: Timings): void {
    super.answer({ ...content, headers: [...apiHeaders, ...(content.headers ?? [])] }, timings)
  }

  protected override ownHeaders(): readonly string[] {
    // The playground reads this member, the reader of requests does not.
    const at = this.ignored.indexOf('workspace_id')
    if (at >= 0) this.ignored.splice(at, 1)
    return super.ownHeaders()
  }

  protected override decide(text: string, decider: Decider): void | Promise<void> {
    const workspaceId = workspaceIn(text)
    if (workspaceId !== undefined) {
      const { accounts, admission } = this.#context
      const caller = (this.caller = callerOf(accounts, workspaceId))
      admission.requireRoom(caller)
      admission.take(caller, 1)
    }
    return super.decide(text, decider)
  }
}

/** No key is at fault here if the workspace is archived. */
function callerOf(accounts: Pick<Accounts, 'callerOf'>, workspaceId: number): Caller {
  try {
    return accounts.callerOf(workspaceId)
  } catch (cause) {
    const { code, message } = cause as OiError
    if (code !== 'ERR_API_KEY') throw cause
    throw new OiError('ERR_CONFLICT', message, { cause })
  }
}

/** Admission that only counts requests without a workspace. */
export function playgroundAdmission(admission: Admission, unbooked: Unbooked): Admission {
  const isNobody = (caller: Caller) => caller === nobody
  return {
    take: (caller, count) => (isNobody(caller) ? undefined : admission.take(caller, count)),
    requireFunds: (caller) => (isNobody(caller) ? undefined : admission.requireFunds(caller)),
    giveBack: (caller) => (isNobody(caller) ? undefined : admission.giveBack(caller)),
    requireRoom: (caller) => (isNobody(caller) ? undefined : admission.requireRoom(caller)),
    enter: (caller, entrance) => (isNobody(caller) ? undefined : admission.enter(caller, entrance)),
    leave: (caller) => (isNobody(caller) ? undefined : admission.leave(caller)),
    book: (caller, decision) => {
      if (!isNobody(caller)) return admission.book(caller, decision)
      const { usage } = decision
      unbooked.requests++
      unbooked.input_tokens += usage.input_tokens
      unbooked.output_tokens += usage.output_tokens
      unbooked.image_tokens += usage.image_tokens ?? 0
      return undefined
    },
    headers: (caller) => (isNobody(caller) ? [] : admission.headers(caller)),
  }
}

/**
 * The `workspace_id` of a body; other errors in the body are found later.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` if it is no id.
 */
function workspaceIn(text: string): number | undefined {
  // Bodies with images are long, and most have no `workspace_id`.
  if (!text.includes('"workspace_id"')) return undefined
  let body: { readonly workspace_id?: unknown } | null
  try {
    body = JSON.parse(text) as typeof body
  } catch {
    return undefined
  }
  const id = body?.workspace_id
  if (id === undefined) return undefined
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id
  const rule = 'workspace_id: expected the id of a workspace'
  throw new OiError('ERR_BODY_INVALID', rule, { param: 'workspace_id' })
}
