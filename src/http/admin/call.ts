/**
 * What the handlers of the admin API are given, and what they give back.
 *
 * @module
 */

import type { Administration, Actor } from '../../accounts/administration.js'
import type { Accounts } from '../../accounts/accounts.js'
import type { Session } from '../../accounts/admin-access.js'
import type { ModelAdmin } from '../../admin/operations.js'
import type { AdminOperationId, BodyOf, QueryOf, ReplyOf } from '../../api/admin/operations.js'
import type { Decider } from '../../decide/types.js'
import type { ServerLimits } from '../reply/model-list.js'
import type { AdminMode, Origin } from './reach.js'
import type { Throttle } from './throttle.js'

/** One setting of the server, as it is and where that was said. */
export interface SettingReport {
  readonly name: string
  readonly flag: string
  readonly variable: string
  readonly description: string
  readonly value: string | number | boolean
  readonly default: string | number | boolean
  readonly origin: 'default' | 'file' | 'environment' | 'flag'
  /** Of a number. */
  readonly unit?: string
  /** Whether a change counts without a new start. */
  readonly live?: boolean
}

/** What the server knows of itself and the handlers do not. */
export interface ServerFacts {
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
  readonly settings: () => readonly SettingReport[]
  readonly facts: () => ServerFacts
  /** Where the console's files are. Default: where the build leaves them. */
  readonly consoleFolder?: string
}

/** What handlers share. */
export interface AdminServices extends AdminOptions {
  readonly throttle: Throttle
  /** Undefined unless the models are ready. */
  readonly decider: () => Decider | undefined
  /** What the server allows, whatever a model could do. */
  readonly limits: () => ServerLimits
  /** Decisions under way. */
  readonly running: () => number
  readonly unbooked: Unbooked
  readonly pendingBookings: () => { readonly fileBytes: number; readonly pendingAnswers: number }
}

/** Decisions of the playground that counted to no workspace. */
export interface Unbooked {
  requests: number
  input_tokens: number
  output_tokens: number
  image_tokens: number
}

export interface Call<Id extends AdminOperationId> {
  readonly body: BodyOf<Id>
  readonly query: QueryOf<Id>
  /** Of the path: a whole number, or a name. */
  readonly id: number
  readonly name: string
  readonly origin: Origin
  /** Undefined where none is needed. */
  readonly session: Session | undefined
  readonly actor: Actor
  readonly administration: Administration
  /** Whether nobody waits for the reply any more. */
  readonly gone: () => boolean
  /** Has the browser keep the secret of a session, or forget it. */
  keep(secret: string | undefined): void
}

/** A reply that is text already. */
export class TextReply {
  readonly type: string
  readonly text: string | Uint8Array
  /** How a browser would call the file; undefined where it is none. */
  readonly fileName: string | undefined

  constructor(type: string, text: string | Uint8Array, fileName?: string) {
    this.type = type
    this.text = text
    this.fileName = fileName
  }
}

type Answer<Id extends AdminOperationId> = ReplyOf<Id> | TextReply

/** May be called again if it throws `ERR_OVERLOADED`, as nothing has been done then. */
export type AdminHandler<Id extends AdminOperationId> = (
  call: Call<Id>,
) => Answer<Id> | Promise<Answer<Id>>

/** The playground's decisions are exchanges of another kind. */
export type AdminHandlerId = Exclude<AdminOperationId, 'decide'>

export type AdminHandlers<Ids extends AdminHandlerId = AdminHandlerId> = {
  readonly [Id in Ids]: AdminHandler<Id>
}
