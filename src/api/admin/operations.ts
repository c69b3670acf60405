/**
 * All operations of the admin API: its routes, its checks and its OpenAPI document are made from
 * this table.
 *
 * @module
 */

import type Type from 'typebox'
import { accountOperations } from './account-operations.js'
import { serverOperations } from './server-operations.js'

export type { AdminOperation } from './operation.js'

/** The prefix of all paths. */
export const adminPath = '/admin/v1'

/** By operationId. */
export const adminOperations = { ...accountOperations, ...serverOperations }

export type AdminOperationId = keyof typeof adminOperations

/** The type of an operation's body, or of its reply. */
export type BodyOf<Id extends AdminOperationId> = (typeof adminOperations)[Id] extends {
  readonly body: infer Schema extends Type.TSchema
}
  ? Type.Static<Schema>
  : undefined
export type ReplyOf<Id extends AdminOperationId> = (typeof adminOperations)[Id] extends {
  readonly reply: infer Schema extends Type.TSchema
}
  ? Type.Static<Schema>
  : undefined
/** The type of an operation's query parameters; absent ones are undefined. */
export type QueryOf<Id extends AdminOperationId> = (typeof adminOperations)[Id] extends {
  readonly query: infer Fields extends Type.TProperties
}
  ? Type.Static<Type.TObject<Fields>>
  : object
