/**
 * The context that exchanges of the admin area share with those of `/v1`; read on use, as settings
 * change while the server runs.
 *
 * @module
 */

import type { Accounts, Caller } from '../accounts/accounts.js'
import { OiError } from '../errors.js'
import type { Gate } from '../http/access/gate.js'
import { Charges } from '../http/exchange/charges.js'
import type { PostContext } from '../http/exchange/post-context.js'
import type { AdminHandlers } from './call.js'
import type { AdminDoor } from './door.js'

interface AreaContextOptions {
  /** The context of `/v1`. */
  readonly server: PostContext
  readonly door: AdminDoor
  readonly gate: Gate
  readonly handlers: AdminHandlers
  readonly accounts: Pick<Accounts, 'callerOf'>
}

export class AreaContext implements PostContext {
  /** Pages of other origins have no access here, whatever they may do in `/v1`. */
  readonly cors = undefined
  /** Nothing is charged once here. */
  readonly charges = new Charges(undefined, 0)
  readonly door: AdminDoor
  readonly gate: Gate
  readonly handlers: AdminHandlers
  readonly accounts: Pick<Accounts, 'callerOf'>
  readonly #server: PostContext

  constructor({ server, door, gate, handlers, accounts }: AreaContextOptions) {
    this.#server = server
    this.door = door
    this.gate = gate
    this.handlers = handlers
    this.accounts = accounts
  }

  get tracer() {
    return this.#server.tracer
  }
  get logger() {
    return this.#server.logger
  }
  get traffic() {
    return this.#server.traffic
  }
  get closing() {
    return this.#server.closing
  }
  get failedKeys() {
    return this.#server.failedKeys
  }
  get trustedProxies() {
    return this.#server.trustedProxies
  }
  scopeOf(caller: Caller): string {
    return this.#server.scopeOf(caller)
  }
  get wire() {
    return this.#server.wire
  }
  get running() {
    return this.#server.running
  }
  get maxBodyBytes() {
    return this.#server.maxBodyBytes
  }
  get maxReplyBytes() {
    return this.#server.maxReplyBytes
  }
  get bodies() {
    return this.#server.bodies
  }
  get bodyClock() {
    return this.#server.bodyClock
  }
  get deadlines() {
    return this.#server.deadlines
  }
  get batchDeadlines() {
    return this.#server.batchDeadlines
  }
  get heartbeatMs() {
    return this.#server.heartbeatMs
  }

  decider() {
    return this.#server.decider()
  }

  /** API keys are not accepted here. */
  authenticate(): Caller {
    throw new OiError('ERR_SESSION', 'API keys are not accepted here')
  }
}
