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
  KeepSchema,
  ModelStateSchema,
  ModelStatesSchema,
  NewModelSchema,
  PriceChangeSchema,
  PriceSchema,
  PricesSchema,
} from './model-schemas.js'
import type { AdminOperation } from './operation.js'
import { FreedSchema, NamedModelSchema, NamedModelsSchema, NewPullSchema } from './pull-schemas.js'
import { OverviewSchema } from './overview-schemas.js'
import { auditQuery, AuditSchema, ServerSchema, SettingsSchema } from './server-schemas.js'
import { usageQuery, UsageSchema } from './usage-schemas.js'

const PlaygroundSchema = Type.Object(
  {
    ...RequestSchema.properties,
    workspace_id: Type.Optional(
      id('The workspace whose limits and ledger it counts for; without it, it is not booked.'),
    ),
  },
  { title: 'PlaygroundRequest' },
)

/** By operationId. */
export const serverOperations = {
  getOverview: {
    method: 'get',
    path: '/overview',
    tag: 'Server',
    summary: 'The last hour of the server, in slots of ten seconds',
    description: 'Of what `GET /metrics` counts. Kept in memory: a restart begins anew.',
    needs: 'session',
    reply: OverviewSchema,
  },
  getUsage: {
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary: 'Usage per hour or day, by workspace, key or model',
    description: 'With `format=csv` as CSV; its first line has the field names.',
    needs: 'session',
    query: usageQuery,
    reply: UsageSchema,
  },
  listModels: {
    method: 'get',
    path: '/models',
    tag: 'Models',
    summary: 'The models of the server, and the changes under way',
    needs: 'session',
    reply: ModelStatesSchema,
  },
  loadModel: {
    method: 'post',
    path: '/models',
    tag: 'Models',
    summary: 'Load one more model',
    description:
      'Answers when the model is ready or has failed. A client that leaves earlier changes nothing.',
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
    summary: 'Load a model again from its file, beside the old one, and switch over',
    needs: 'csrf',
    reply: ModelStateSchema,
  },
  keepModel: {
    method: 'put',
    path: '/models/{name}/keep',
    tag: 'Models',
    summary: 'Change whether the next starts load a model',
    description: 'A model that the settings name is loaded in any case.',
    needs: 'csrf',
    body: KeepSchema,
    reply: ModelStateSchema,
  },
  unloadModel: {
    method: 'delete',
    path: '/models/{name}',
    tag: 'Models',
    summary: 'Unload a model, once its requests are answered',
    description: 'A kept model is kept no more.',
    needs: 'csrf',
    reply: ModelStateSchema,
  },
  listNamedModels: {
    method: 'get',
    path: '/named-models',
    tag: 'Models',
    summary: "The models on the server's disk that can be loaded by name",
    needs: 'session',
    reply: NamedModelsSchema,
  },
  pullModel: {
    method: 'post',
    path: '/named-models',
    tag: 'Models',
    summary: 'Fetch a model, check it, and give it a name',
    description:
      'Answers when the model is there or the pull has failed; `GET /models` shows the progress. A ' +
      'client that leaves earlier changes nothing.',
    needs: 'csrf',
    body: NewPullSchema,
    reply: NamedModelSchema,
  },
  stopPull: {
    method: 'delete',
    path: '/pulls/{name}',
    tag: 'Models',
    summary: 'Stop a pull, by its source',
    description: 'What it has fetched stays: the same pull goes on there.',
    needs: 'csrf',
    reply: undefined,
  },
  removeModel: {
    method: 'delete',
    path: '/named-models/{name}',
    tag: 'Models',
    summary: 'Remove a pulled model from the disk, or the remains of a pull',
    needs: 'csrf',
    reply: FreedSchema,
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
    summary: 'The audit log: what was changed, and by whom',
    needs: 'session',
    query: auditQuery,
    reply: AuditSchema,
  },
  getServer: {
    method: 'get',
    path: '/server',
    tag: 'Server',
    summary: 'The state of the server',
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
      '`server-timing` shows where the time went.',
    needs: 'csrf',
    body: PlaygroundSchema,
    reply: ResponseSchema,
  },
} as const satisfies Record<string, AdminOperation>
