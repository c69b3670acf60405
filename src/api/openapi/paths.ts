/**
 * The routes: their inputs and replies.
 *
 * @module
 */

import Type from 'typebox'
import { ResponseSchema } from '../answer-schemas.js'
import { BatchItemSchema, BatchResponseSchema, BatchTotalsSchema } from '../batch-schemas.js'
import { DecisionsRequestSchema, DecisionsResponseSchema } from '../decisions/schemas.js'
import { ModelSchema, ModelsSchema } from '../model-schemas.js'
import { UsageReportSchema } from '../usage-schema.js'
import { batchBody, inParts, requestBody } from './bodies.js'
import { type Part, reference, type SchemaComponents } from './components.js'
import { errorReferences, type ErrorStatus } from './errors.js'
import { commonParameters, headersOf, parameters } from './headers.js'
import {
  batchLineExamples,
  batchReplyExamples,
  decisionExamples,
  decisionsReplyExamples,
  metricsExample,
  modelExamples,
  modelsExamples,
  usageExamples,
} from './reply-examples.js'
import {
  batchExamples,
  decisionsExamples,
  type Example,
  requestExamples,
} from './request-examples.js'

type Examples = Readonly<Record<string, Example>>

interface Operation {
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Whether the route needs a key. */
  readonly key: boolean
  /** Of its path, by the names of their components. */
  readonly parameters?: readonly string[]
  /** With a body it is a POST, else a GET. */
  readonly body?: Part
  /** The reply of status 200, in words. */
  readonly answers: string
  /** Media type -> schema of the body. */
  readonly content: Part
  readonly errors: readonly ErrorStatus[]
}

/** Errors in the HTTP itself. */
const httpErrors: readonly ErrorStatus[] = [400, 408, 417, 431, 505]
const bodyErrors: readonly ErrorStatus[] = [400, 402, 413, 415, 422, 503, 504]
const keyErrors: readonly ErrorStatus[] = [401, 429]

const BatchLineSchema = Type.Union([BatchItemSchema, BatchTotalsSchema], {
  title: 'BatchLine',
  description: 'One line of a batch as NDJSON.',
})

/** Every route by its path. */
export function paths(components: SchemaComponents): Part {
  const json = (schema: object, examples?: Examples) => ({
    'application/json': { schema: components.add(schema), ...(examples && { examples }) },
  })
  /** As JSON, or as a multipart body with a JSON part. */
  const body = (schema: object, examples: Examples) => ({
    ...json(schema, examples),
    'multipart/form-data': {
      schema: inParts(components.add(schema)),
      encoding: { request: { contentType: 'application/json' } },
    },
  })
  const status = (word: string) =>
    json(Type.Object({ status: Type.Literal(word) }), {
      [word]: { summary: 'So it is', value: { status: word } },
    })
  const lines = {
    schema: {
      type: 'string',
      contentMediaType: 'application/x-ndjson',
      contentSchema: components.add(BatchLineSchema),
      description:
        'One JSON object per line: results as `BatchItem`, as they become ready, and finally the ' +
        'totals as `BatchTotals`.',
    },
    examples: batchLineExamples,
  }

  return {
    '/v1/systemone': route({
      operationId: 'systemOne',
      tag: 'Questions',
      summary: 'Answer questions about a state',
      description:
        'Every question is answered, with probabilities. Without a content type the body is JSON.',
      key: true,
      body: body(requestBody, requestExamples),
      answers: 'The answers.',
      content: json(ResponseSchema, decisionExamples),
      errors: bodyErrors,
    }),
    '/v1/systemone/batch': route({
      operationId: 'systemOneBatch',
      tag: 'Questions',
      summary: 'Many requests in one call',
      description:
        'An invalid request does not fail the others: its error is among the results. ' +
        'With `Accept: application/x-ndjson` every result is a line, sent as soon as it is ' +
        'ready. Each request counts as one for the limits.',
      key: true,
      body: body(batchBody, batchExamples),
      answers: 'The results.',
      content: {
        ...json(BatchResponseSchema, batchReplyExamples),
        'application/x-ndjson': lines,
      },
      errors: bodyErrors,
    }),
    '/v1/decisions': route({
      operationId: 'createDecision',
      tag: 'Questions',
      summary: 'Questions in the form of the OpenAI Decisions API (experimental)',
      description:
        'For clients of that API. An input is a state, a `predicate` is a `noul`; limits, prices ' +
        'and answers are those of `POST /v1/systemone`. It may change with that API.',
      key: true,
      body: json(DecisionsRequestSchema, decisionsExamples),
      answers: 'The answers.',
      content: json(DecisionsResponseSchema, decisionsReplyExamples),
      errors: bodyErrors,
    }),
    '/v1/models': route({
      operationId: 'listModels',
      tag: 'Workspace',
      summary: 'The models, with their limits',
      key: true,
      answers: 'The models.',
      content: json(ModelsSchema, modelsExamples),
      errors: [503],
    }),
    '/v1/models/{id}': route({
      operationId: 'getModel',
      tag: 'Workspace',
      summary: 'One of the models',
      key: true,
      parameters: ['id'],
      answers: 'The model.',
      content: json(ModelSchema, modelExamples),
      errors: [404, 503],
    }),
    '/v1/usage': route({
      operationId: 'getUsage',
      tag: 'Workspace',
      summary: "The workspace's balance, limits and usage",
      key: true,
      answers: 'The report.',
      content: json(UsageReportSchema, usageExamples),
      errors: [],
    }),
    '/healthz': route({
      operationId: 'getHealth',
      tag: 'Server',
      summary: 'Whether the process lives',
      key: false,
      answers: 'It lives.',
      content: status('ok'),
      errors: [],
    }),
    '/readyz': route({
      operationId: 'getReadiness',
      tag: 'Server',
      summary: 'Whether all models can answer',
      key: false,
      answers: 'They can.',
      content: status('ready'),
      errors: [503],
    }),
    '/metrics': route({
      operationId: 'getMetrics',
      tag: 'Server',
      summary: 'Metrics for Prometheus',
      description: 'Absent if the server has them on another port.',
      key: false,
      answers: "The metrics, in Prometheus' text format.",
      content: { 'text/plain': { schema: { type: 'string' }, example: metricsExample } },
      errors: [404],
    }),
    '/openapi.json': route({
      operationId: 'getOpenApi',
      tag: 'Server',
      summary: 'This document',
      key: false,
      answers: 'The document.',
      content: json(Type.Object({ openapi: Type.String({ pattern: '^3\\.1\\.' }) })),
      errors: [],
    }),
  }
}

function route(operation: Operation): Part {
  const { operationId, tag, summary, description, key, body, answers, content } = operation
  const errors: ErrorStatus[] = [
    ...(key ? keyErrors : []),
    ...operation.errors,
    ...httpErrors,
    405,
    500,
  ]
  const headers = body === undefined ? commonParameters : Object.keys(parameters)
  const names = [...(operation.parameters ?? []), ...headers]
  const described: Part = {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: key ? [{ key: [] }] : [],
    parameters: names.map((name) => reference('parameters', name)),
    ...(body && { requestBody: { required: true, content: body } }),
    responses: {
      200: { description: answers, headers: headersOf(200, key, body !== undefined), content },
      ...errorReferences(errors),
    },
  }
  if (body !== undefined) return { post: described }
  return { description: 'HEAD has the same reply, without its body.', get: described }
}
