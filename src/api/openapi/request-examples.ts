/**
 * Request bodies that the document shows. A test sends each of them to a server.
 *
 * @module
 */

import { example } from '../example.js'

/** An Example Object of OpenAPI. */
export interface Example {
  readonly summary: string
  readonly value: unknown
  /** The input that the model needs besides text; a model without it answers 400. */
  readonly 'x-oi-needs'?: 'image'
}

const { state } = example
const { billing, team, urgency } = example.questions
const refund = {
  type: 'noul',
  instructions: 'Does the customer want money back?',
  criteria: { true: 'a refund is asked for, in whatever words', false: 'anything else' },
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const shows = {
  type: 'choice',
  instructions: 'What does the photo show?',
  criteria: { damage: 'a broken product', receipt: null, other: null },
}

/** Bodies of `POST /v1/systemone`. */
export const requestExamples: Readonly<Record<string, Example>> = {
  noul: { summary: 'Yes or no', value: { state, questions: { billing } } },
  choice: { summary: 'One of some options', value: { state, questions: { team } } },
  score: { summary: 'A level on a scale', value: { state, questions: { urgency } } },
  mixed: {
    summary: 'Several questions about a state in JSON',
    value: {
      model: 'default',
      state: { ticket: 4711, messages: [{ from: 'customer', text: state }], open: true },
      questions: { billing, refund, team, urgency },
    },
  },
  image: {
    summary: 'An image in the state: for a vision model',
    value: {
      state: {
        ticket: 4711,
        photo: {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: pixel },
          max_pixels: 262_144,
        },
      },
      questions: { shows },
    },
    'x-oi-needs': 'image',
  },
  imageUrl: {
    summary: 'An image in the form of other clients: for a vision model',
    value: {
      state: [
        'Sent with ticket 4711:',
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
      ],
      questions: { shows },
    },
    'x-oi-needs': 'image',
  },
  images: {
    summary: 'Images before the state: for a vision model',
    value: {
      state: 'Sent with ticket 4711.',
      images: [`data:image/png;base64,${pixel}`, { mediaType: 'image/png', base64: pixel }],
      questions: { shows },
    },
    'x-oi-needs': 'image',
  },
  assets: {
    summary: 'An image that the texts name: for a vision model',
    value: {
      state: { ticket: 4711, text: 'The photo photo-1 came with it.' },
      questions: { shows: { ...shows, instructions: 'What does photo-1 show?' } },
      assets: { 'photo-1': { type: 'image', format: 'png', data_base64: pixel } },
    },
    'x-oi-needs': 'image',
  },
}

/** Bodies of `POST /v1/systemone/batch`. */
export const batchExamples: Readonly<Record<string, Example>> = {
  requests: {
    summary: 'Independent requests; the second cannot be answered',
    value: {
      requests: [
        { id: 'ticket-4711', state, questions: { billing, team } },
        { id: 'ticket-4712', model: 'unknown', state: 'It does not start.', questions: { team } },
      ],
    },
  },
  states: {
    summary: 'The same questions about many states',
    value: {
      states: [state, { ticket: 4712, text: 'The app does not start.' }],
      questions: { team, urgency },
    },
  },
}

/** Bodies of `POST /v1/decisions`. */
export const decisionsExamples: Readonly<Record<string, Example>> = {
  conversation: {
    summary: 'A conversation, and a question of each type',
    value: {
      model: 'default',
      input: [
        { role: 'user', content: 'I was charged twice for the same month.' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Which month was it?' }] },
        { role: 'user', content: 'May. Please pay one of them back.' },
      ],
      questions: [
        {
          ...{ type: 'predicate', name: 'refund' },
          instructions: 'The customer wants money back.',
        },
        {
          ...{ type: 'choice', name: 'team', instructions: 'Which team should answer?' },
          choices: [
            { value: 'billing', description: 'payments and invoices' },
            { value: 'technical', description: 'the app does not work' },
          ],
        },
        {
          ...{ type: 'score', instructions: 'How urgent is it?' },
          levels: [{ label: 'low' }, { label: 'medium' }, { label: 'high', description: 'today' }],
        },
      ],
    },
  },
  image: {
    summary: 'An image: for a vision model',
    value: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Sent with ticket 4711.' },
            { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
          ],
        },
      ],
      questions: [{ type: 'predicate', instructions: 'It shows an invoice.' }],
    },
    'x-oi-needs': 'image',
  },
}
