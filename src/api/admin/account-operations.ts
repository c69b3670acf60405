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
import type { AdminOperation } from './operation.js'
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
  signIn: {
    method: 'post',
    path: '/session',
    tag: 'Session',
    summary: 'Sign in',
    description:
      'Sets the cookie `oi_admin`, or `oi_admin_8080` for `localhost:8080`, which all other ' +
      'operations need. After some wrong passwords the next try must wait: `too_many_attempts` ' +
      'says how long.',
    needs: 'nothing',
    body: SignInSchema,
    reply: SessionSchema,
  },
  firstSignIn: {
    method: 'post',
    path: '/session/first',
    tag: 'Session',
    summary: 'Set the first password, by the link of the first start, and sign in',
    needs: 'nothing',
    body: FirstSignInSchema,
    reply: SessionSchema,
  },
  getSession: {
    method: 'get',
    path: '/session',
    tag: 'Session',
    summary: 'The session of the cookie and its token',
    needs: 'csrf',
    reply: SessionSchema,
  },
  signOut: {
    method: 'delete',
    path: '/session',
    tag: 'Session',
    summary: 'Sign out',
    needs: 'csrf',
    reply: undefined,
  },
  changePassword: {
    method: 'put',
    path: '/password',
    tag: 'Session',
    summary: 'Change the password',
    description: 'Ends all sessions; the reply has a new one.',
    needs: 'csrf',
    body: PasswordChangeSchema,
    reply: SessionSchema,
  },
  listWorkspaces: {
    method: 'get',
    path: '/workspaces',
    tag: 'Workspaces',
    summary: 'All workspaces',
    needs: 'session',
    reply: WorkspacesSchema,
  },
  createWorkspace: {
    method: 'post',
    path: '/workspaces',
    tag: 'Workspaces',
    summary: 'Create a workspace',
    needs: 'csrf',
    body: NewWorkspaceSchema,
    reply: WorkspaceSchema,
  },
  getWorkspace: {
    method: 'get',
    path: '/workspaces/{id}',
    tag: 'Workspaces',
    summary: 'A workspace',
    needs: 'session',
    reply: WorkspaceSchema,
  },
  changeWorkspace: {
    method: 'patch',
    path: '/workspaces/{id}',
    tag: 'Workspaces',
    summary: 'Rename a workspace, or set its limits and budget',
    description: 'Counts from the next request on.',
    needs: 'csrf',
    body: WorkspaceChangeSchema,
    reply: WorkspaceSchema,
  },
  creditWorkspace: {
    method: 'post',
    path: '/workspaces/{id}/credit',
    tag: 'Workspaces',
    summary: 'Give credits, take them back, or lift the limit',
    needs: 'csrf',
    body: CreditSchema,
    reply: WorkspaceSchema,
  },
  getLedger: {
    method: 'get',
    path: '/workspaces/{id}/ledger',
    tag: 'Workspaces',
    summary: "A page of a workspace's ledger",
    needs: 'session',
    query: ledgerQuery,
    reply: LedgerPageSchema,
  },
  listKeys: {
    method: 'get',
    path: '/keys',
    tag: 'Keys',
    summary: 'All keys, or those of a workspace',
    needs: 'session',
    query: keysQuery,
    reply: KeysSchema,
  },
  createKey: {
    method: 'post',
    path: '/keys',
    tag: 'Keys',
    summary: 'Create a key; its secret is shown only once',
    needs: 'csrf',
    body: NewKeySchema,
    reply: KeyWithSecretSchema,
  },
  getKey: {
    method: 'get',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'A key',
    needs: 'session',
    reply: KeySchema,
  },
  changeKey: {
    method: 'patch',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Rename a key, block it, or set its expiry and models',
    needs: 'csrf',
    body: KeyChangeSchema,
    reply: KeySchema,
  },
  rotateKey: {
    method: 'post',
    path: '/keys/{id}/rotate',
    tag: 'Keys',
    summary: 'Replace a key by a new one; both are valid for a while',
    description: 'The new one has the same name, workspace, expiry and models.',
    needs: 'csrf',
    body: RotationSchema,
    reply: KeyWithSecretSchema,
  },
  revokeKey: {
    method: 'delete',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Revoke a key for good',
    needs: 'csrf',
    reply: KeySchema,
  },
} as const satisfies Record<string, AdminOperation>
