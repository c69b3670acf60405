/**
 * What every reply must be, whatever was asked.
 *
 * @module
 */

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { HttpReply } from '../reply-reader.js'
import type { Case } from './cases.js'

/** 204 answers OPTIONS; 408, 417, 431 and 505 say what is wrong with the HTTP itself. */
const statuses = new Set([
  ...[200, 204, 400, 401, 402, 404, 405, 408, 413, 415, 417, 422, 429, 431],
  ...[503, 504, 505],
])

/** @returns What is wrong with one of our replies to a case, or undefined. */
export function wrongIn(reply: HttpReply, { headOnly, id }: Case): string | undefined {
  const { status, headers } = reply
  const body = headOnly ? Buffer.alloc(0) : decoded(reply)
  if (body === undefined) return `${status} that cannot be decoded`
  const text = body.toString('utf8')
  if (!statuses.has(status)) return `status ${status}: ${text.slice(0, 300)}`
  const given = headers.get('x-request-id')
  if (given === undefined || given !== headers.get('x-typesafe-request-id')) {
    return `x-request-id: ${given}, ${headers.get('x-typesafe-request-id')}`
  }
  if (id !== undefined && given !== id) return `x-request-id: sent ${id}, got ${given}`
  if (!/total;dur=[\d.]+$/.test(headers.get('server-timing') ?? '')) {
    return `server-timing: ${headers.get('server-timing')}`
  }
  if (!['0', '1', undefined].includes(headers.get('x-oi-charged'))) {
    return `x-oi-charged: ${headers.get('x-oi-charged')}`
  }
  if (status === 503 && !headers.has('retry-after')) return '503 without retry-after'
  if (headOnly || status === 204) return undefined
  return status === 200 ? wrongInAnswer(headers, text) : wrongInError(text)
}

/** What the fuzzer asks for. */
const decoders = new Map([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
])

/** @returns Undefined if it is damaged, or coded in a way that nobody asked for. */
function decoded({ headers, body }: HttpReply): Buffer | undefined {
  const coding = headers.get('content-encoding')
  if (coding === undefined) return body
  try {
    return decoders.get(coding)?.(body)
  } catch {
    return undefined
  }
}

function wrongInAnswer(headers: ReadonlyMap<string, string>, text: string): string | undefined {
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/plain')) return undefined
  // One value in every line; an empty one only says that a stream goes on.
  const lines = type === 'application/x-ndjson' ? text.split('\n').filter(Boolean) : [text]
  return lines.every((line) => parsed(line) !== undefined)
    ? undefined
    : `200 with ${text.slice(0, 300)}`
}

function wrongInError(text: string): string | undefined {
  const body = parsed(text) as
    { error?: { code?: unknown; message?: unknown }; detail?: unknown } | undefined
  const { code, message } = body?.error ?? {}
  const right = typeof code === 'string' && typeof message === 'string' && message !== ''
  if (right && body?.detail === message) return undefined
  return `an error of another shape: ${text.slice(0, 300)}`
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
