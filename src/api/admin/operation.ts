/**
 * What an operation of the admin API is.
 *
 * @module
 */

import type Type from 'typebox'

export interface AdminOperation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Behind `/admin/v1`; `{id}` is a whole number, `{name}` any text, encoded. */
  readonly path: string
  readonly tag: 'Session' | 'Workspaces' | 'Keys' | 'Usage' | 'Models' | 'Server' | 'Playground'
  readonly summary: string
  readonly description?: string
  /** What it needs: nothing, a session, or a session and its `x-oi-csrf`. */
  readonly needs: 'nothing' | 'session' | 'csrf'
  readonly query?: Readonly<Record<string, Type.TSchema>>
  readonly body?: Type.TSchema
  /** What status 200 answers; undefined: 204. */
  readonly reply: Type.TSchema | undefined
}
