/**
 * The families of decision models, as data: how each shows options, and where its answer is read.
 * The wording is in the model's own template.
 *
 * A decision model is a GGUF with `<arch>.decision.type` in its metadata. The facts are those of
 * llama.cpp's own server and conversion scripts (since b11361; the pinned tree is older and has
 * neither, but runs the causal models among them).
 *
 * @module
 */

import type { ModelInfo } from '../../engine/types.js'
import type { JsonForm } from '../../api/json-writer.js'

/** Temperatures may depend on the number of options: a bucket's name and its largest number. */
export interface Bucket {
  readonly name: string
  readonly atMost: number
}

export interface Family {
  /** The readout's name and version. */
  readonly version: string
  /**
   * The options' labels: `letters` are A to Z, then a to z, which the template writes itself;
   * `codes` are A to Z, then AA to ZZ, those that are single tokens; `own` are the rules of d1.
   */
  readonly labels: 'letters' | 'codes' | 'own'
  /**
   * Which option of a noul the template gets first; `rating`: no first, and the answer is a
   * rating, of which the first label is a certain no and the last a certain yes.
   */
  readonly noul: 'yes first' | 'no first' | 'rating'
  /** Whether a choice is asked in the caller's order and in reverse, and averaged. */
  readonly bothOrders: boolean
  readonly buckets: readonly Bucket[]
  /** How a state that is not text is written. */
  readonly state: JsonForm
  /** The same for all other values. */
  readonly values: JsonForm
}

/** How many labels a rating has. */
export const ratings = 9

const usualBuckets: readonly Bucket[] = [
  { name: '2', atMost: 2 },
  { name: '3_5', atMost: 5 },
  { name: '6_10', atMost: 10 },
  { name: '11', atMost: Infinity },
]

const common = {
  labels: 'codes',
  noul: 'no first',
  bothOrders: false,
  buckets: usualBuckets,
  state: {},
  values: {},
} as const satisfies Omit<Family, 'version'>

/** By the type in the metadata. */
export const families: Readonly<Record<string, Family>> = {
  openjev: { ...common, version: 'openjev@1', labels: 'letters', noul: 'yes first' },
  lev: {
    version: 'lev@1',
    labels: 'codes',
    noul: 'rating',
    bothOrders: true,
    buckets: [
      { name: 'small', atMost: 8 },
      { name: 'mid', atMost: 26 },
      { name: 'large', atMost: Infinity },
    ],
    state: { sortedKeys: true },
    values: { sortedKeys: true },
  },
  nimble: { ...common, version: 'nimble@1' },
  'pplx-decider': { ...common, version: 'pplx-decider@1' },
  'lfm2-d1': {
    ...common,
    version: 'lfm2-d1@1',
    labels: 'own',
    noul: 'yes first',
    state: { indented: true },
  },
}

const head = 'reads its answer from a head that this llama.cpp does not have'

/** Known types that cannot be served, and why. */
export const refusedTypes: Readonly<Record<string, string>> = {
  kev: `a pointer between tokens of the prompt ${head}`,
  laya: `an encoder, which ${head}`,
  clef: `it asks all questions in one prompt, and ${head}`,
  'lfm2-d1-omni': `an encoder, which ${head}`,
}

/** The type of a decision model; undefined for any other model. */
export function decisionType({ architecture, metadata }: ModelInfo): string | undefined {
  return metadata[`${architecture}.decision.type`]
}
