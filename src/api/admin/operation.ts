/**
 * The type of an operation of the admin API.
 *
 * @module
 */

import type Type from 'typebox'

export interface AdminOperation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** After `/admin/v1`; `{id}` is a whole number, `{name}` any text, percent-encoded. */
  readonly path: string
  readonly tag: 'Session' | 'Workspaces' | 'Keys' | 'Usage' | 'Models' | 'Server' | 'Playground'
  readonly summary: string
  readonly description?: string
  /** Its requirement: nothing, a session, or a session and its `x-oi-csrf`. */
  readonly needs: 'nothing' | 'session' | 'csrf'
  readonly query?: Readonly<Record<string, Type.TSchema>>
  readonly body?: Type.TSchema
  /** The body of status 200; undefined: 204. */
  readonly reply: Type.TSchema | undefined
}
