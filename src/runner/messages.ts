/**
 * The messages between a front and a runner, and their encoding. `PROTOCOL.md` beside this file has
 * them as a table.
 *
 * Rules
 *   1. The first frame of a connection is `open`, with the protocol's version: both sides come from
 *      one package, so another version is an error and never negotiated.
 *   2. A call has an id that no other running call has, and one reply: `result`, `tokens`,
 *      `counted`, `opened`, `closed` or `failed`, with the same id.
 *   3. Texts and arrays are sent as bytes, not as JSON; messages sent once (options, facts) are
 *      JSON.
 *   4. The runner encodes frequent messages in the addon (native/frames/messages.h), not here.
 *
 * @module
 */

import type { NativeFacts, NativeFailure, NativeOptions } from '../engine/native.js'
import type { ScoreAsk } from '../engine/pack.js'
import { statNames, type EngineStats } from '../engine/stats.js'
import type { EngineTimes, ScoreOutput } from '../engine/types.js'
import { FieldReader, FieldWriter, sizeOf } from './fields.js'
import { headBytes, newFrame } from './frames.js'

export const protocolVersion = 5

/** From the front to the runner. */
export const asks = { open: 1, score: 2, tokenize: 3, count: 4, cancel: 5, ping: 6, close: 7 }

/** From the runner to the front. */
export const replies = {
  progress: 65,
  opened: 66,
  result: 67,
  tokens: 68,
  counted: 69,
  stats: 70,
  pong: 71,
  closed: 72,
  failed: 73,
}

export interface OpenAsk {
  readonly version: number
  readonly options: NativeOptions
}

/** An error as sent to the other process: of an unknown code it is ''. */
export type Failure = NativeFailure

/** A frame without payload. */
export const signal = (kind: number, id = 0) => newFrame(kind, id, 0)

export function jsonFrame(kind: number, id: number, value: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(value))
  const frame = newFrame(kind, id, text.length)
  frame.set(text, headBytes)
  return frame
}

export const readJson = (payload: Buffer): unknown => JSON.parse(payload.toString())

export function scoreFrame(id: number, ask: ScoreAsk): Buffer {
  const { texts, kinds, shape, candidates, workspace, scope, deadlineMs, images, sizes } = ask
  let bytes = 3 * sizeOf.uint32 + sizeOf.text(scope) + sizeOf.float64
  for (const text of texts) bytes += sizeOf.text(text)
  for (const numbers of [kinds, shape, candidates, sizes]) bytes += sizeOf.numbers(numbers)
  for (const image of images) bytes += sizeOf.numbers(image)
  const frame = newFrame(asks.score, id, bytes)
  const out = new FieldWriter(frame, headBytes)
  out.uint32(workspace)
  out.text(scope)
  out.float64(deadlineMs)
  out.uint32(texts.length)
  for (const text of texts) out.text(text)
  for (const numbers of [kinds, shape, candidates, sizes]) out.numbers(numbers)
  out.uint32(images.length)
  for (const image of images) out.numbers(image)
  return frame
}

export function readResult(payload: Buffer): ScoreOutput {
  const fields = new FieldReader(payload)
  // In the order of their encoding.
  return {
    logits: fields.float32s(),
    ranks: fields.int32s(),
    prefixTokens: fields.float64(),
    imageTokens: fields.float64(),
    suffixTokens: fields.float64(),
    cachedTokens: fields.float64(),
    evaluatedTokens: fields.float64(),
    ...readTimes(fields),
  }
}

const readTimes = (fields: FieldReader): EngineTimes => ({
  queueMs: fields.float64(),
  tokenizeMs: fields.float64(),
  visionMs: fields.float64(),
  modelMs: fields.float64(),
})

/** @param kinds - One byte per text, as in {@link ScoreAsk}. */
export function tokenizeFrame(id: number, texts: readonly string[], kinds: Uint8Array): Buffer {
  let bytes = sizeOf.uint32 + sizeOf.numbers(kinds)
  for (const text of texts) bytes += sizeOf.text(text)
  const frame = newFrame(asks.tokenize, id, bytes)
  const out = new FieldWriter(frame, headBytes)
  out.uint32(texts.length)
  for (const text of texts) out.text(text)
  out.numbers(kinds)
  return frame
}

export function readTokens(payload: Buffer): Int32Array[] {
  const fields = new FieldReader(payload)
  return listOf(fields, () => fields.int32s())
}

export function countFrame(id: number, text: string): Buffer {
  const frame = newFrame(asks.count, id, sizeOf.text(text))
  new FieldWriter(frame, headBytes).text(text)
  return frame
}

export const readCounted = (payload: Buffer): number => new FieldReader(payload).uint32()

export const readProgress = (payload: Buffer): number => new FieldReader(payload).float64()

export const openFrame = (options: NativeOptions) =>
  jsonFrame(asks.open, 0, { version: protocolVersion, options } satisfies OpenAsk)

/** The one array among the facts, then the others as JSON. */
export function openedFrame(id: number, { ordinary, ...facts }: NativeFacts): Buffer {
  const text = JSON.stringify(facts)
  const frame = newFrame(replies.opened, id, sizeOf.numbers(ordinary) + sizeOf.text(text))
  const out = new FieldWriter(frame, headBytes)
  out.numbers(ordinary)
  out.text(text)
  return frame
}

export function readOpened(payload: Buffer): NativeFacts {
  const fields = new FieldReader(payload)
  const ordinary = fields.bytes()
  return { ...(JSON.parse(fields.text()) as Omit<NativeFacts, 'ordinary'>), ordinary }
}

export const statsBytes = statNames.length * sizeOf.float64

export function readStats(payload: Buffer): EngineStats {
  const fields = new FieldReader(payload)
  const entries = statNames.map((name) => [name, fields.float64()] as const)
  return Object.fromEntries(entries) as Record<keyof EngineStats, number>
}

/** The error of a call. */
export function failedFrame(id: number, error: unknown): Buffer {
  const { code = '', message = String(error), retryAfterMs = 0 } = error as Partial<Failure>
  const { question = -1 } = error as Partial<Failure>
  const { queueMs = 0, tokenizeMs = 0, visionMs = 0, modelMs = 0 } = error as Partial<Failure>
  const numbers = [retryAfterMs, question, queueMs, tokenizeMs, visionMs, modelMs]
  const bytes = sizeOf.text(code) + sizeOf.text(message) + numbers.length * sizeOf.float64
  const frame = newFrame(replies.failed, id, bytes)
  const out = new FieldWriter(frame, headBytes)
  out.text(code)
  out.text(message)
  for (const number of numbers) out.float64(number)
  return frame
}

export function readFailed(payload: Buffer): Failure {
  const fields = new FieldReader(payload)
  const [code, message] = [fields.text(), fields.text()] as const
  const [retryAfterMs, question] = [fields.float64(), fields.float64()] as const
  return {
    ...{ code, message, ...readTimes(fields) },
    ...(retryAfterMs > 0 && { retryAfterMs }),
    ...(question >= 0 && { question }),
  }
}

function listOf<T>(fields: FieldReader, read: () => T): T[] {
  return Array.from({ length: fields.uint32() }, read)
}
