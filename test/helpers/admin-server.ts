/**
 * The stub server with an admin API over real accounts, signed in.
 */
import type { Test } from 'tap'
import { hashPassword } from '../../src/admin/password.js'
import type { Accounts } from '../../src/accounts/accounts.js'
import type { AdminOptions } from '../../src/admin/call.js'
import { OiError } from '../../src/errors.js'
import { AdminClient, password } from './admin-client.js'
import { post } from './asking.js'
import { ofWorkspaces, type StubOptions, type StubServer, withServer } from './stub.js'

export interface AdminServer extends StubServer {
  readonly admin: AdminClient
  /** The key of the workspace `default`. */
  readonly workspaceId: number
  /** Asks for a decision. @param key - The server's by default. */
  post(key?: string, body?: string): Promise<Response>
}

export interface AdminServerOptions extends StubOptions {
  readonly options?: Partial<AdminOptions>
  /** Whether a password and a session exist. Default true. */
  readonly signedIn?: boolean
}

// Slow by design.
let hash: Promise<string> | undefined

/** The description of a server without models. */
const adminOptions = (accounts: Accounts): AdminOptions => ({
  ...{ mode: 'loopback', tls: false, accounts, settings: () => [] },
  models: {
    load: () => Promise.reject(new Error('no models here')),
    keep: () => Promise.reject(new Error('no models here')),
    unload: () => Promise.reject(new Error('no models here')),
    reload: () => Promise.reject(new Error('no models here')),
    status: () => [],
  },
  pulls: {
    list: () => Promise.resolve({ models: [], folder: 'models', freeBytes: 1 }),
    pull: () => Promise.reject(new Error('no models here')),
    remove: () => Promise.reject(new OiError('ERR_NOT_FOUND', 'There is no such model')),
  },
  facts: () => ({
    ...{ version: '0.0.0', transport: 'stub', addresses: [], dataDir: 'data', state: 'ready' },
    availableBytes: 1,
  }),
})

export async function withAdmin(
  t: Test,
  { options, signedIn = true, ...rest }: AdminServerOptions,
  use: (server: AdminServer) => Promise<void>,
): Promise<void> {
  const adminOf = (accounts: Accounts) => ({ ...adminOptions(accounts), ...options })
  await withServer({ adminOf, admissionOf: ofWorkspaces, ...rest }, async (server) => {
    const admin = new AdminClient(t, server.url)
    if (signedIn) {
      server.accounts.admin.setPassword(await (hash ??= hashPassword(password)))
      await admin.signIn()
    }
    const { id: workspaceId } = server.accounts.workspaces.get('default')
    const ask = (key = server.key, body = '{}') => post({ ...server, key }, body)
    await use({ ...server, admin, workspaceId, post: ask })
  })
}
