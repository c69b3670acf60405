/**
 * Reply bodies that the document shows. A test checks them against the schemas.
 *
 * @module
 */

import type { Example } from './request-examples.js'

const team = {
  type: 'choice',
  choice: 'accounts',
  probabilities: { accounts: 0.61, technical: 0.28, other: 0.11 },
  confidence: 0.415,
}

const usage = { input_tokens: 142, output_tokens: 96 }

const decision = {
  model: 'example-model',
  answers: {
    billing: { type: 'noul', noul: 0.93 },
    team,
    urgency: {
      type: 'score',
      score: 1.43,
      probabilities: { 0: 0, 1: 0.57, 2: 0.43 },
      legend: { 0: 'can wait', 1: 'this week', 2: 'today' },
      confidence: 0.355,
    },
  },
  usage,
  latency_ms: 41.7,
}

/** Of `POST /v1/systemone`. */
export const decisionExamples: Readonly<Record<string, Example>> = {
  mixed: { summary: 'An answer of each type', value: decision },
  evidence: {
    summary: 'With `x-oi-evidence: 1`',
    value: {
      model: 'example-model',
      answers: {
        billing: {
          type: 'noul',
          noul: 0.9308615796566533,
          evidence: { label_mass: 0.98, logits: [11.2, 13.8], temperature: 1 },
        },
      },
      usage: { input_tokens: 61, output_tokens: 17 },
      latency_ms: 18.2,
      evidence: { cached_tokens: 40, evaluated_tokens: 21 },
    },
  },
}

/** Of `POST /v1/decisions`. */
export const decisionsReplyExamples: Readonly<Record<string, Example>> = {
  conversation: {
    summary: 'An answer of each type',
    value: {
      model: 'example-model',
      answers: [
        { type: 'predicate', name: 'refund', probability: 0.93 },
        {
          ...{ type: 'choice', name: 'team', choice: 'billing', confidence: 0.8 },
          probabilities: [
            { value: 'billing', probability: 0.9 },
            { value: 'technical', probability: 0.1 },
          ],
        },
        {
          ...{ type: 'score', name: null, score: 1.43, confidence: 0.355 },
          probabilities: [
            { value: 0, label: 'low', probability: 0 },
            { value: 1, label: 'medium', probability: 0.57 },
            { value: 2, label: 'high', probability: 0.43 },
          ],
        },
      ],
      usage: {
        input_tokens: 142,
        input_tokens_details: { cached_tokens: 40, cache_write_tokens: 0 },
        output_tokens: 96,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 238,
      },
    },
  },
}

const message = 'requests[1].model: expected one of example-model, default, latest, got "unknown"'
const results = [
  {
    index: 0,
    id: 'ticket-4711',
    status: 200,
    model: 'example-model',
    answers: { billing: { type: 'noul', noul: 0.93 }, team },
    usage,
    latency_ms: 38.4,
  },
  {
    index: 1,
    id: 'ticket-4712',
    status: 400,
    error: {
      ...{ code: 'invalid_request', message },
      ...{ type: 'invalid_request_error', param: 'requests[1].model' },
    },
    detail: message,
  },
]
const totals = { usage, latency_ms: 38.4 }

/** Of `POST /v1/systemone/batch`, as JSON. */
export const batchReplyExamples: Readonly<Record<string, Example>> = {
  requests: { summary: 'One answered, one refused', value: { results, ...totals } },
}

/** The same as NDJSON. */
export const batchLineExamples: Readonly<Record<string, Example>> = {
  requests: {
    summary: 'The same, each result as soon as it is ready',
    value: [...results.toReversed(), totals].map((line) => `${JSON.stringify(line)}\n`).join(''),
  },
}

const card = {
  name: 'example-model',
  description: 'qwen3 0.6B Q8_0',
  release_date: '2026-01-31',
  aliases: ['fast', 'default', 'latest', 'jev-latest', 'jev-preview'],
  default: true,
  modalities: ['text'],
  limits: {
    max_options: 255,
    max_levels: 255,
    max_questions: 400,
    max_options_per_request: 16_384,
    max_state_tokens: 32_768,
    max_images: 0,
    max_image_pixels: 0,
    max_batch: 256,
    max_body_bytes: 4_194_304,
    max_reply_bytes: 16_777_216,
  },
  same_bits: true,
  digest: `sha256:${'0123456789abcdef'.repeat(4)}`,
  readout: 'letters@1',
  calibration: { data: 'tickets.jsonl', date: '2026-01-31', observations: 2000 },
}
const shortCard = { id: 'example-model', object: 'model', created: 1_769_817_600, owned_by: 'oi' }

/** Of `GET /v1/models`. */
export const modelsExamples: Readonly<Record<string, Example>> = {
  one: {
    summary: 'One model',
    value: {
      models: [card],
      object: 'list',
      data: [shortCard],
    },
  },
}

/** Of `GET /v1/models/{id}`. */
export const modelExamples: Readonly<Record<string, Example>> = {
  one: { summary: 'One model, by its name or an alias', value: { ...card, ...shortCard } },
}

const usageRows = [
  {
    day: '2026-01-31',
    model: 'example-model',
    requests: 3,
    input_tokens: 426,
    output_tokens: 288,
    image_tokens: 0,
    cached_tokens: 82,
    cost: 714,
  },
]

/** Of `GET /v1/usage`. */
export const usageExamples: Readonly<Record<string, Example>> = {
  limited: {
    summary: 'A workspace with limits and a balance',
    value: {
      workspace: 'default',
      balance: 12_500_000,
      budget: {
        tokens: 1_000_000,
        period: 'month',
        remaining_tokens: 999_286,
        resets_at: '2026-02-01T00:00:00Z',
      },
      limits: { requests_per_minute: 6000, concurrent: 256 },
      usage: usageRows,
      key: { name: 'web', usage: usageRows },
    },
  },
}

/** Of `GET /metrics`. */
export const metricsExample =
  '# HELP oi_http_requests_running Decisions under way\n' +
  '# TYPE oi_http_requests_running gauge\n' +
  'oi_http_requests_running 3\n'
