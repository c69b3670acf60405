/**
 * Operations of the admin API on the server: usage, models, settings, the playground.
 *
 * @module
 */

import Type from 'typebox'
import { ResponseSchema } from '../answer-schemas.js'
import { RequestSchema } from '../request-schemas.js'
import { id } from './fields.js'
import {
  ModelStateSchema,
  ModelStatesSchema,
  NewModelSchema,
  PriceChangeSchema,
  PriceSchema,
  PricesSchema,
} from './model-schemas.js'
import type { AdminOperation } from './operation.js'
import { auditQuery, AuditSchema, ServerSchema, SettingsSchema } from './server-schemas.js'
import { usageQuery, UsageSchema } from './usage-schemas.js'

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
export const serverOperations = {
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
