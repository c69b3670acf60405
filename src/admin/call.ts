/**
 * The inputs and results of the admin API's handlers.
 *
 * @module
 */

import type { Administration, Actor } from '../accounts/administration.js'
import type { Accounts } from '../accounts/accounts.js'
import type { Session } from '../accounts/admin-access.js'
import type { PullAdmin } from './pulls.js'
import type { ModelAdmin } from './socket/operations.js'
import type { AdminOperationId, BodyOf, QueryOf, ReplyOf } from '../api/admin/operations.js'
import type { SettingReport } from '../config.js'
import type { Decider } from '../decide/types.js'
import type { ServerLimits } from '../http/reply/model-list.js'
import type { AdminMode, Origin } from './reach.js'
import type { Throttle } from './throttle.js'

/** Facts of the server that the handlers do not know. */
interface ServerFacts {
  readonly version: string
  readonly transport: string
  readonly addresses: readonly string[]
  readonly dataDir: string
  readonly state: 'loading' | 'ready' | 'failed' | 'closing'
  readonly availableBytes: number
}

export interface AdminOptions {
  readonly mode: AdminMode
  /** Whether the server speaks HTTPS itself. */
  readonly tls: boolean
  readonly accounts: Accounts
  readonly models: ModelAdmin
  readonly pulls: PullAdmin
  readonly settings: () => readonly SettingReport[]
  readonly facts: () => ServerFacts
  /** The folder of the console's files. Default: the build's output. */
  readonly consoleFolder?: string
}

/** Shared by all handlers. */
export interface AdminServices extends AdminOptions {
  readonly throttle: Throttle
  /** Undefined unless the models are ready. */
  readonly decider: () => Decider | undefined
  /** The server's limits, independent of the model. */
  readonly limits: () => ServerLimits
  /** Decisions under way. */
  readonly running: () => number
  readonly unbooked: Unbooked
  readonly pendingBookings: () => { readonly fileBytes: number; readonly pendingAnswers: number }
}

/** The playground's decisions without a workspace. */
export interface Unbooked {
  requests: number
  input_tokens: number
  output_tokens: number
  image_tokens: number
}

export interface Call<Id extends AdminOperationId> {
  readonly body: BodyOf<Id>
  readonly query: QueryOf<Id>
  /** The path's id: a whole number, or a name. */
  readonly id: number
  readonly name: string
  readonly origin: Origin
  /** Undefined if the operation needs none. */
  readonly session: Session | undefined
  readonly actor: Actor
  readonly administration: Administration
  /** Whether the client has gone. */
  readonly gone: () => boolean
  /** By which the throttle knows a browser that has signed in before; undefined: none. */
  readonly browser: string | undefined
  /** Makes the browser keep a session's secret, or forget it; and what it is known by. */
  keep(secret: string | undefined, browser?: string): void
}

/** A reply that is already text. */
export class TextReply {
  readonly type: string
  readonly text: string | Uint8Array
  /** The file name that a browser suggests; undefined: not a file. */
  readonly fileName: string | undefined

  constructor(type: string, text: string | Uint8Array, fileName?: string) {
    this.type = type
    this.text = text
    this.fileName = fileName
  }
}

type Answer<Id extends AdminOperationId> = ReplyOf<Id> | TextReply

/** May be called again if it throws `ERR_OVERLOADED`: nothing has been done then. */
export type AdminHandler<Id extends AdminOperationId> = (
  call: Call<Id>,
) => Answer<Id> | Promise<Answer<Id>>

/** The playground's decisions are another kind of request. */
export type AdminHandlerId = Exclude<AdminOperationId, 'decide'>

export type AdminHandlers<Ids extends AdminHandlerId = AdminHandlerId> = {
  readonly [Id in Ids]: AdminHandler<Id>
}
