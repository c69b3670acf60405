/**
 * The facts of a finished request, for logs and traces.
 *
 * @module
 */

import type { Caller } from '../../accounts/accounts.js'
import type { Usage, Timings } from '../../decide/types.js'
import { errorTable, OiError } from '../../errors.js'
import type { Attributes } from '../../trace/span.js'
import type { RequestEntry } from './logger.js'

/** The facts of an answer, for logs and traces. */
export interface Told {
  /** Undefined for a batch. */
  readonly model?: string
  readonly usage: Usage
  readonly cached_tokens: number
  readonly timings: Timings
}

/** A finished request. */
export interface Ended {
  readonly id: string
  readonly method: string
  readonly path: string
  /** 0 if the client had gone. */
  readonly status: number
  readonly ms: number
  readonly caller: Caller | undefined
  readonly told: Told | undefined
  /** The error; undefined: none. */
  readonly failure: unknown
  readonly trace: string | undefined
}

export function entryOf({ caller, told, failure, trace, ms, ...request }: Ended): RequestEntry {
  return {
    ...request,
    ms: Math.round(ms * 1000) / 1000,
    ...(caller && { workspace: caller.workspace, key: caller.keyId }),
    ...(failure !== undefined && { error: wireCodeOf(failure) }),
    ...(told && toldOf(told)),
    ...(trace !== undefined && { trace }),
  }
}

/** By OpenTelemetry's conventional names, where they exist. */
export function attributesOf(request: Omit<Ended, 'method' | 'ms' | 'trace'>): Attributes {
  const { id, path, status, caller, told, failure } = request
  return {
    'http.request.method': 'POST',
    // Only routes without an id in their path have spans.
    'http.route': path,
    'url.path': path,
    'http.response.status_code': status === 0 ? undefined : status,
    'error.type': failure === undefined ? undefined : wireCodeOf(failure),
    'oi.request_id': id,
    'oi.workspace': caller?.workspace,
    'oi.key_id': caller?.keyId,
    'oi.model': told?.model,
    'oi.input_tokens': told?.usage.input_tokens,
    'oi.output_tokens': told?.usage.output_tokens,
    'oi.cached_tokens': told?.cached_tokens,
  }
}

/** The code of an error on the wire. */
export function wireCodeOf(error: unknown): string {
  return error instanceof OiError ? errorTable[error.code].wire : 'internal_error'
}

const toldOf = ({ model, usage, cached_tokens, timings }: Told) => ({
  ...{ model, ...usage, cached_tokens },
  ...timesOf(timings),
})

const timesOf = ({ queue, tokenize, vision, model }: Timings) => ({
  queue_ms: queue,
  tokenize_ms: tokenize,
  vision_ms: vision,
  model_ms: model,
})
