/**
 * The stub server behind admission of real workspaces, with a clock that only the test moves.
 */
import type { Accounts } from '../../src/accounts/accounts.js'
import type { Limits } from '../../src/accounts/terms.js'
import { WorkspaceAdmission } from '../../src/http/access/workspace-admission.js'
import { decidePath, post } from './asking.js'
import { type StubOptions, type StubServer, withServer } from './stub.js'

export interface LimitedServer extends StubServer {
  readonly clock: { nowMs: number }
  /** The workspace `default`, which owns the server's key. */
  readonly workspaceId: number
  /** Asks for a decision. @param key - The server's by default. */
  post(key?: string, init?: { body?: string; signal?: AbortSignal }): Promise<Response>
}

export interface LimitedOptions extends StubOptions {
  /** How long a request waits for a place, milliseconds. Default: that of admission. */
  readonly placeWaitMs?: number
  /** Places for all workspaces together. */
  readonly places?: number
}

/** @param limits - Limits of the workspace `default`. */
export function withLimits(
  limits: Partial<Limits>,
  { placeWaitMs, places, ...options }: LimitedOptions,
  use: (server: LimitedServer) => Promise<void>,
): Promise<void> {
  const clock = { nowMs: 1000 }
  const admissionOf = (accounts: Accounts) =>
    new WorkspaceAdmission({ accounts, placeWaitMs, places, now: () => clock.nowMs })
  return withServer({ admissionOf, ...options }, async (server) => {
    const { id: workspaceId } = server.accounts.workspaces.get('default')
    server.accounts.terms.setLimits(workspaceId, limits)
    const ask: LimitedServer['post'] = (key = server.key, { body, signal } = {}) =>
      post({ ...server, key }, body, {}, decidePath, signal)
    await use({ ...server, clock, workspaceId, post: ask })
  })
}

/** The error code of a reply. */
export async function codeOf(reply: Response): Promise<string> {
  return ((await reply.json()) as { error: { code: string } }).error.code
}

/** The `x-ratelimit-*` headers of a reply: limit, remaining, reset; limit, remaining. */
export function limitsOf({ headers }: Response) {
  const read = (name: string) => headers.get(`x-ratelimit-${name}`)
  return {
    requests: [read('limit-requests'), read('remaining-requests'), read('reset-requests')],
    concurrent: [read('limit-concurrent'), read('remaining-concurrent')],
  }
}
