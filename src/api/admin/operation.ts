/**
 * What an operation of the admin API is.
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
  readonly reply?: Type.TSchema
}

type Options = Pick<AdminOperation, 'description' | 'query' | 'body' | 'reply'> &
  Partial<Pick<AdminOperation, 'needs'>>

/** What changes something needs the session's token, the others a session, unless they say so. */
const on =
  <Method extends AdminOperation['method']>(method: Method, needs: AdminOperation['needs']) =>
  <const Rest extends Options>(path: string, summary: string, rest = {} as Rest) => ({
    ...{ method, path, summary, needs },
    ...rest,
  })

export const get = on('get', 'session')
export const post = on('post', 'csrf')
export const put = on('put', 'csrf')
export const patch = on('patch', 'csrf')
export const remove = on('delete', 'csrf')

/** Operations with the same tag, by operationId. */
export function tagged<Operations extends Readonly<Record<string, object>>>(
  tag: AdminOperation['tag'],
  operations: Operations,
) {
  const whole = Object.entries(operations).map(([id, operation]) => [id, { ...operation, tag }])
  return Object.fromEntries(whole) as {
    readonly [Id in keyof Operations]: Operations[Id] & Pick<AdminOperation, 'tag'>
  }
}
