/**
 * Requests that must be refused before they reach the model, and the expected errors.
 */
import { badJson } from './bad-json.js'
import { badShapes } from './bad-shapes.js'
import { badValues, tooLong } from './bad-values.js'

/** The mistake, the body, the place in the message (`body` for the whole one), and its rest. */
export type Row = readonly [
  what: string,
  body: string | Uint8Array,
  place: string,
  says: string | RegExp,
]

export const badRequests = [badJson, badShapes, badValues, tooLong].flatMap((rows) =>
  rows.map(([, body]) => ({ body })),
)
