/**
 * Which failures are retried, and after how long.
 *
 * Asking twice does no harm: a request is charged once for its `Idempotency-Key`.
 *
 * @module
 */

import type { OiRequestError } from './errors.js'

/** The longest wait that a server can ask for. */
const maxRetryAfterMs = 60_000
const firstBackoffMs = 500
const maxBackoffMs = 8_000

/**
 * @param tried - Retries so far.
 * @returns Milliseconds until the next attempt; undefined if a retry is of no use.
 */
export function retryDelayMs(error: OiRequestError, tried: number): number | undefined {
  if (!isPassing(error)) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined && retryAfterMs <= maxRetryAfterMs) return retryAfterMs
  return backoffMs(tried)
}

/** @param random - 0 to 1. @returns 250 to 500 ms, doubled with each retry, at most 4 to 8 s. */
export function backoffMs(tried: number, random = Math.random()): number {
  return Math.min(firstBackoffMs * 2 ** tried, maxBackoffMs) * (0.5 + random / 2)
}

/**
 * Reads `retry-after-ms`, or else `retry-after` in seconds or as a date.
 *
 * @returns Milliseconds from 0; undefined if neither header is valid.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const ms = headers.get('retry-after-ms')
  if (ms !== null && isNumber(ms)) return Number(ms)
  const after = headers.get('retry-after')
  if (after === null) return undefined
  if (isNumber(after)) return Number(after) * 1000
  const until = Date.parse(after)
  // Both by the server's clock if the reply has a date: this machine's clock may be wrong.
  const now = Date.parse(headers.get('date') ?? '')
  const left = until - (Number.isNaN(now) ? Date.now() : now)
  return Number.isNaN(left) ? undefined : Math.max(0, left)
}

/** Waits; ends early, without an error, when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

function isPassing({ code, status }: OiRequestError): boolean {
  if (status === undefined) return code === 'connection_failed' || code === 'request_timeout'
  return status === 408 || status === 429 || status >= 500
}

/** Stricter than `Number()`, which takes an empty text for 0. */
function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim())
}
