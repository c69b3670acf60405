/**
 * GET /v1/models, and the routes outside of /v1.
 *
 * @module
 */

import { bodyOf, type Context, refusalOf } from '../context.js'
import { about, between, check, equal, list, object, show, skip, text, whole } from '../expect.js'
import { section } from '../rule.js'

const limits = [
  ...['max_options', 'max_levels', 'max_questions', 'max_state_tokens', 'max_images'],
  ...['max_image_pixels', 'max_batch', 'max_body_bytes', 'max_reply_bytes'],
  'max_options_per_request',
]

const paths = [
  '/v1/systemone',
  '/v1/systemone/batch',
  '/v1/models',
  '/v1/models/{id}',
  '/v1/usage',
  '/healthz',
  '/readyz',
]

/** Looks at each model, of which nothing is known yet. */
async function eachCard(
  context: Context,
  look: (model: Record<string, unknown>) => void,
): Promise<void> {
  for (const model of (await context.cards()) as unknown[]) {
    object('model', model)
    await about(String(model['name']), async () => look(model))
  }
}

export const modelRules = [
  ...section('decisions/Models', {
    'GET /v1/models lists at least one model': async (context) => {
      check((await context.cards()).length > 0, 'models is empty')
    },
    'a model has name, description, release_date, aliases, default, modalities, limits and digest':
      (context) =>
        eachCard(context, (model) => {
          text('name', model['name'])
          equal('type of description', typeof model['description'], 'string')
          text('release_date', model['release_date'], /^\d{4}-\d\d-\d\d/)
          list('aliases', model['aliases'])
          equal('type of default', typeof model['default'], 'boolean')
          list('modalities', model['modalities'])
          check(model['modalities'].includes('text'), 'modalities: expected text among them')
          object('limits', model['limits'])
        }),
    'limits are whole numbers': (context) =>
      eachCard(context, ({ limits: given }) => {
        object('limits', given)
        for (const limit of limits) whole(`limits.${limit}`, given[limit])
      }),
    'options and levels are at most 255, questions and states at least 1': (context) =>
      eachCard(context, ({ limits: given }) => {
        object('limits', given)
        for (const most of ['max_options', 'max_levels']) between(most, given[most], 1, 255)
        for (const most of ['max_questions', 'max_state_tokens']) whole(most, given[most], 1)
      }),
    'digest is a sha256': (context) =>
      eachCard(context, ({ digest }) => text('digest', digest, /^(?:sha256:)?[0-9a-f]{64}$/)),
    'one model is the default': async (context) => {
      const defaults = (await context.cards()).filter((each) => each.default)
      equal('number of defaults', defaults.length, 1)
    },
    'aliases lists every name: of the default model default, latest, jev-latest and jev-preview too':
      async (context) => {
        const { aliases } = await context.card()
        for (const name of ['default', 'latest', 'jev-latest', 'jev-preview']) {
          check(aliases.includes(name), `aliases: no ${name} in ${show(aliases)}`)
        }
      },
    'no name belongs to two models': async (context) => {
      const names = (await context.cards()).flatMap(({ name, aliases }) => [
        ...new Set([name, ...aliases]),
      ])
      equal('names', [...new Set(names)], names)
    },
    'object is list, and data names the same models': async (context) => {
      const body = bodyOf(await context.get('/v1/models'))
      equal('object', body['object'], 'list')
      list('data', body['data'])
      const ids = body['data'].map((entry) => {
        object('entry', entry)
        equal('object', entry['object'], 'model')
        whole('created', entry['created'])
        text('owned_by', entry['owned_by'])
        return entry['id']
      })
      const names = (await context.cards()).map(({ name }) => name)
      equal('ids', ids, names)
    },
    'GET /v1/models/{id} is one of them, by its name or an alias, with HEAD too; others are 404':
      async (context) => {
        for (const card of await context.cards()) {
          for (const id of [card.name, ...card.aliases]) {
            const path = `/v1/models/${encodeURIComponent(id)}`
            const body = bodyOf(await context.get(path))
            equal('name', body['name'], card.name)
            equal('id', body['id'], card.name)
            equal('object', body['object'], 'model')
            const head = await context.client.send({
              ...{ method: 'HEAD', path, headers: context.bearer },
            })
            equal('status of HEAD', head.status, 200)
            equal('body of HEAD', head.text, '')
          }
        }
        refusalOf(await context.get('/v1/models/no-such%20model'), 404, 'not_found')
      },
  }),
  ...section('decisions/Not in /v1', {
    'GET /healthz says 200 without a key': async ({ client }) => {
      equal('status', (await client.send({ path: '/healthz' })).status, 200)
    },
    'GET /readyz says 200 without a key while models answer': async ({ client }) => {
      equal('status', (await client.send({ path: '/readyz' })).status, 200)
    },
    "GET /metrics gives Prometheus' text without a key": async ({ client }) => {
      const reply = await client.send({ path: '/metrics' })
      if (reply.status === 404) skip('/metrics is served at another address')
      equal('status', reply.status, 200)
      const sample = /^[a-zA-Z_:][\w:]*(?:\{[^\n]*\})? (?:[+-]?Inf|NaN|-?[\d.]+(?:e[+-]?\d+)?)$/
      const lines = reply.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      check(lines.length > 0, 'it has no sample')
      for (const line of lines) text('sample', line, sample)
    },
    'GET /openapi.json describes every route without a key': async ({ client }) => {
      const reply = await client.send({ path: '/openapi.json' })
      equal('status', reply.status, 200)
      const document = bodyOf(reply)
      text('openapi', document['openapi'], /^3\.\d/)
      object('paths', document['paths'])
      for (const path of paths) {
        check(path in document['paths'], `paths: expected ${path} among them`)
      }
    },
  }),
]
