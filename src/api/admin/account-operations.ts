/**
 * Operations of the admin API on the accounts: sessions, workspaces, keys.
 *
 * @module
 */

import {
  KeyChangeSchema,
  KeySchema,
  keysQuery,
  KeysSchema,
  KeyWithSecretSchema,
  NewKeySchema,
  RotationSchema,
} from './key-schemas.js'
import { get, patch, post, put, remove, tagged } from './operation.js'
import {
  FirstSignInSchema,
  PasswordChangeSchema,
  SessionSchema,
  SignInSchema,
} from './session-schemas.js'
import {
  CreditSchema,
  LedgerPageSchema,
  ledgerQuery,
  NewWorkspaceSchema,
  WorkspaceChangeSchema,
  WorkspaceSchema,
  WorkspacesSchema,
} from './workspace-schemas.js'

/** By operationId. */
export const accountOperations = {
  ...tagged('Session', {
    signIn: post('/session', 'Sign in', {
      description:
        'Sets the cookie `oi_admin`, or `oi_admin_8080` for `localhost:8080`, which all other ' +
        'operations need. After some wrong passwords the next try must wait: `too_many_attempts` ' +
        'says how long.',
      needs: 'nothing',
      body: SignInSchema,
      reply: SessionSchema,
    }),
    firstSignIn: post(
      '/session/first',
      'Set the first password, by the link of the first start, and sign in',
      { needs: 'nothing', body: FirstSignInSchema, reply: SessionSchema },
    ),
    getSession: get('/session', 'The session of the cookie and its token', {
      needs: 'csrf',
      reply: SessionSchema,
    }),
    signOut: remove('/session', 'Sign out'),
    changePassword: put('/password', 'Change the password', {
      description: 'Ends all sessions; the reply has a new one.',
      body: PasswordChangeSchema,
      reply: SessionSchema,
    }),
  }),
  ...tagged('Workspaces', {
    listWorkspaces: get('/workspaces', 'All workspaces', { reply: WorkspacesSchema }),
    createWorkspace: post('/workspaces', 'Create a workspace', {
      body: NewWorkspaceSchema,
      reply: WorkspaceSchema,
    }),
    getWorkspace: get('/workspaces/{id}', 'A workspace', { reply: WorkspaceSchema }),
    changeWorkspace: patch('/workspaces/{id}', 'Rename a workspace, or set its limits and budget', {
      description: 'Counts from the next request on.',
      body: WorkspaceChangeSchema,
      reply: WorkspaceSchema,
    }),
    creditWorkspace: post(
      '/workspaces/{id}/credit',
      'Give credits, take them back, or lift the limit',
      { body: CreditSchema, reply: WorkspaceSchema },
    ),
    getLedger: get('/workspaces/{id}/ledger', "A page of a workspace's ledger", {
      query: ledgerQuery,
      reply: LedgerPageSchema,
    }),
  }),
  ...tagged('Keys', {
    listKeys: get('/keys', 'All keys, or those of a workspace', {
      query: keysQuery,
      reply: KeysSchema,
    }),
    createKey: post('/keys', 'Create a key; its secret is shown only once', {
      body: NewKeySchema,
      reply: KeyWithSecretSchema,
    }),
    getKey: get('/keys/{id}', 'A key', { reply: KeySchema }),
    changeKey: patch('/keys/{id}', 'Rename a key, block it, or set its expiry and models', {
      body: KeyChangeSchema,
      reply: KeySchema,
    }),
    rotateKey: post('/keys/{id}/rotate', 'Replace a key by a new one; both are valid for a while', {
      description: 'The new one has the same name, workspace, expiry and models.',
      body: RotationSchema,
      reply: KeyWithSecretSchema,
    }),
    revokeKey: remove('/keys/{id}', 'Revoke a key for good', { reply: KeySchema }),
  }),
}
