/**
 * Everything that the admin API can be asked: the one table of which its routes, its checks and
 * its OpenAPI document are made.
 *
 * @module
 */

import Type from 'typebox'
import { ResponseSchema } from '../answer-schemas.js'
import { RequestSchema } from '../request-schemas.js'
import { id } from './fields.js'
import {
  KeyChangeSchema,
  KeySchema,
  keysQuery,
  KeysSchema,
  KeyWithSecretSchema,
  NewKeySchema,
  RotationSchema,
} from './key-schemas.js'
import {
  ModelStateSchema,
  ModelStatesSchema,
  NewModelSchema,
  PriceChangeSchema,
  PriceSchema,
  PricesSchema,
} from './model-schemas.js'
import { auditQuery, AuditSchema, ServerSchema, SettingsSchema } from './server-schemas.js'
import {
  FirstSignInSchema,
  PasswordChangeSchema,
  SessionSchema,
  SignInSchema,
} from './session-schemas.js'
import { usageQuery, UsageSchema } from './usage-schemas.js'
import {
  CreditSchema,
  LedgerPageSchema,
  ledgerQuery,
  NewWorkspaceSchema,
  WorkspaceChangeSchema,
  WorkspaceSchema,
  WorkspacesSchema,
} from './workspace-schemas.js'

/** Where all of it is. */
export const adminPath = '/admin/v1'

export interface AdminOperation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Behind {@link adminPath}; `{id}` is a whole number, `{name}` any text, encoded. */
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

const PlaygroundSchema = Type.Object(
  {
    ...RequestSchema.properties,
    workspace_id: Type.Optional(
      id('Whose limits and ledger it counts to; without, it is not booked.'),
    ),
  },
  { title: 'PlaygroundRequest' },
)

/** By operationId. */
export const adminOperations = {
  signIn: {
    method: 'post',
    path: '/session',
    tag: 'Session',
    summary: 'Sign in',
    description:
      'Sets the cookie `oi_admin`, which every other operation needs. After some wrong passwords ' +
      'the next try has to wait: `too_many_attempts` says how long.',
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
    summary: 'The session that the cookie belongs to',
    needs: 'session',
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
    summary: 'Make a workspace',
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
    summary: 'Make a key; its secret is shown this once',
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
    summary: 'Put a new key in the place of one; both are valid for a while',
    description: 'The new one has the same name, workspace, expiry and models.',
    needs: 'csrf',
    body: RotationSchema,
    reply: KeyWithSecretSchema,
  },
  revokeKey: {
    method: 'delete',
    path: '/keys/{id}',
    tag: 'Keys',
    summary: 'Refuse a key for good',
    needs: 'csrf',
    reply: KeySchema,
  },
  getUsage: {
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary: 'What was used in each hour or day, by workspace, key or model',
    description: 'As CSV with `format=csv`, with the names of the fields in its first line.',
    needs: 'session',
    query: usageQuery,
    reply: UsageSchema,
  },
  listModels: {
    method: 'get',
    path: '/models',
    tag: 'Models',
    summary: 'The models of the server, and what is being done to them',
    needs: 'session',
    reply: ModelStatesSchema,
  },
  loadModel: {
    method: 'post',
    path: '/models',
    tag: 'Models',
    summary: 'Load one more model',
    description: 'Answers when it is ready, or cannot be. Whoever leaves earlier changes nothing.',
    needs: 'csrf',
    body: NewModelSchema,
    reply: ModelStateSchema,
  },
  getModel: {
    method: 'get',
    path: '/models/{name}',
    tag: 'Models',
    summary: 'A model, by any of its names',
    needs: 'session',
    reply: ModelStateSchema,
  },
  reloadModel: {
    method: 'post',
    path: '/models/{name}/reload',
    tag: 'Models',
    summary: 'Open a model anew from its file, beside the old one, and change over',
    needs: 'csrf',
    reply: ModelStateSchema,
  },
  unloadModel: {
    method: 'delete',
    path: '/models/{name}',
    tag: 'Models',
    summary: 'Take a model away, once its requests are answered',
    needs: 'csrf',
    reply: ModelStateSchema,
  },
  listPrices: {
    method: 'get',
    path: '/prices',
    tag: 'Models',
    summary: 'The prices of models',
    needs: 'session',
    reply: PricesSchema,
  },
  setPrice: {
    method: 'put',
    path: '/prices',
    tag: 'Models',
    summary: "Set a model's price, for all answers from now on",
    needs: 'csrf',
    body: PriceChangeSchema,
    reply: PriceSchema,
  },
  getSettings: {
    method: 'get',
    path: '/settings',
    tag: 'Server',
    summary: 'Every setting, and where its value came from',
    needs: 'session',
    reply: SettingsSchema,
  },
  getAudit: {
    method: 'get',
    path: '/audit',
    tag: 'Server',
    summary: 'What was changed, by whom',
    needs: 'session',
    query: auditQuery,
    reply: AuditSchema,
  },
  getServer: {
    method: 'get',
    path: '/server',
    tag: 'Server',
    summary: 'How the server is',
    needs: 'session',
    reply: ServerSchema,
  },
  getAdminOpenApi: {
    method: 'get',
    path: '/openapi.json',
    tag: 'Server',
    summary: 'This document',
    needs: 'nothing',
    reply: Type.Object({ openapi: Type.String({ pattern: '^3\\.1\\.' }) }),
  },
  decide: {
    method: 'post',
    path: '/decide',
    tag: 'Playground',
    summary: 'Answer questions about a state, as POST /v1/systemone',
    description:
      'The same checks, headers (`x-oi-evidence`, `x-oi-orders`) and errors, and ' +
      '`server-timing` tells where the time went.',
    needs: 'csrf',
    body: PlaygroundSchema,
    reply: ResponseSchema,
  },
} as const satisfies Record<string, AdminOperation>

export type AdminOperationId = keyof typeof adminOperations

/** The value of an operation's body, or of its reply. */
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
/** The parameters behind the `?` of an operation, those absent undefined. */
export type QueryOf<Id extends AdminOperationId> = (typeof adminOperations)[Id] extends {
  readonly query: infer Fields extends Type.TProperties
}
  ? Type.Static<Type.TObject<Fields>>
  : object
