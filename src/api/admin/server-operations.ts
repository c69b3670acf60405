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
import { get, post, put, remove, tagged } from './operation.js'
import { FreedSchema, NamedModelSchema, NamedModelsSchema, NewPullSchema } from './pull-schemas.js'
import { OverviewSchema } from './overview-schemas.js'
import { auditQuery, AuditSchema, ServerSchema, SettingsSchema } from './server-schemas.js'
import { usageQuery, UsageSchema } from './usage-schemas.js'
import { named } from '../schema-parts.js'

const PlaygroundSchema = named('PlaygroundRequest', {
  ...RequestSchema.properties,
  workspace_id: Type.Optional(
    id('The workspace whose limits and ledger it counts for; without it, it is not booked.'),
  ),
})

/** By operationId. */
export const serverOperations = {
  ...tagged('Server', {
    getOverview: get('/overview', 'The last hour of the server, in slots of ten seconds', {
      description: 'Of what `GET /metrics` counts. Kept in memory: a restart begins anew.',
      reply: OverviewSchema,
    }),
    getSettings: get('/settings', 'Every setting, and where its value came from', {
      reply: SettingsSchema,
    }),
    getAudit: get('/audit', 'The audit log: what was changed, and by whom', {
      query: auditQuery,
      reply: AuditSchema,
    }),
    getServer: get('/server', 'The state of the server', { reply: ServerSchema }),
    getAdminOpenApi: get('/openapi.json', 'This document', {
      needs: 'nothing',
      reply: Type.Object({ openapi: Type.String({ pattern: '^3\\.1\\.' }) }),
    }),
  }),
  ...tagged('Usage', {
    getUsage: get('/usage', 'Usage per hour or day, by workspace, key or model', {
      description: 'With `format=csv` as CSV; its first line has the field names.',
      query: usageQuery,
      reply: UsageSchema,
    }),
  }),
  ...tagged('Models', {
    listModels: get('/models', 'The models of the server, and the changes under way', {
      reply: ModelStatesSchema,
    }),
    loadModel: post('/models', 'Load one more model', {
      description:
        'Answers when the model is ready or has failed. A client that leaves earlier changes nothing.',
      body: NewModelSchema,
      reply: ModelStateSchema,
    }),
    getModel: get('/models/{name}', 'A model, by any of its names', { reply: ModelStateSchema }),
    reloadModel: post(
      '/models/{name}/reload',
      'Load a model again from its file, beside the old one, and switch over',
      { reply: ModelStateSchema },
    ),
    keepModel: put('/models/{name}/keep', 'Change whether the next starts load a model', {
      description: 'A model that the settings name is loaded in any case.',
      body: KeepSchema,
      reply: ModelStateSchema,
    }),
    unloadModel: remove('/models/{name}', 'Unload a model, once its requests are answered', {
      description: 'A kept model is kept no more.',
      reply: ModelStateSchema,
    }),
    listNamedModels: get(
      '/named-models',
      "The models on the server's disk that can be loaded by name",
      { reply: NamedModelsSchema },
    ),
    pullModel: post('/named-models', 'Fetch a model, check it, and give it a name', {
      description:
        'Answers when the model is there or the pull has failed; `GET /models` shows the progress. A ' +
        'client that leaves earlier changes nothing.',
      body: NewPullSchema,
      reply: NamedModelSchema,
    }),
    stopPull: remove('/pulls/{name}', 'Stop a pull, by its source', {
      description: 'What it has fetched stays: the same pull goes on there.',
    }),
    removeModel: remove(
      '/named-models/{name}',
      'Remove a pulled model from the disk, or the remains of a pull',
      { reply: FreedSchema },
    ),
    listPrices: get('/prices', 'The prices of models', { reply: PricesSchema }),
    setPrice: put('/prices', "Set a model's price, for all answers from now on", {
      body: PriceChangeSchema,
      reply: PriceSchema,
    }),
  }),
  ...tagged('Playground', {
    decide: post('/decide', 'Answer questions about a state, as POST /v1/systemone', {
      description:
        'The same checks, headers (`x-oi-evidence`, `x-oi-orders`) and errors, and ' +
        '`server-timing` shows where the time went.',
      body: PlaygroundSchema,
      reply: ResponseSchema,
    }),
  }),
}
