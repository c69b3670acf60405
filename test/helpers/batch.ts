/**
 * Batches as clients send them, and readers of their replies.
 */
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, batchPath, headersOf, linesType, post } from './asking.js'

export interface Result {
  readonly index: number
  readonly id?: string
  readonly status: number
  readonly answers?: Record<string, unknown>
  readonly error?: { readonly code: string; readonly message: string; readonly param?: string }
  readonly detail?: string
}

export interface Totals {
  readonly usage: Record<string, number>
  readonly latency_ms: number
}

export interface BatchReply extends Totals {
  readonly results: readonly Result[]
}

/** A request about a state. */
export const about = (state: unknown, more: object = {}) => ({
  ...more,
  state,
  questions: { q: { type: 'noul', instructions: 'Is it?' } },
})

/** A batch of requests, one for each state. */
export const requestsAbout = (states: readonly unknown[]) => ({
  requests: states.map((state) => about(state)),
})

export const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** @param body - A text is sent unchanged, anything else as JSON. */
export const postBatch = (
  server: Address,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
) => post(server, body, headers, batchPath, signal)

export const replyOf = async (reply: Response) => (await reply.json()) as BatchReply

/** Results and totals of a reply in lines; every line must be whole or empty. */
export function readLines(text: string): { results: Result[]; totals: Totals } {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const lines = text
    .slice(0, -1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
  return { results: lines.slice(0, -1) as Result[], totals: lines.at(-1) as Totals }
}

/** The lines of a reply as they arrive. */
export async function* linesOf({ body }: Response): AsyncGenerator<string, undefined> {
  let text = ''
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
  if (text !== '') throw new Error('the last line has no end')
  return undefined
}

/** A reply that is not read until the test reads it: fetch() would read ahead. */
export function openBatch({ url, key }: Address, body: unknown): Promise<IncomingMessage> {
  const headers = headersOf(key, { accept: linesType })
  return new Promise((resolve, reject) => {
    const sent = request(url + batchPath, { method: 'POST', headers, agent: false }, resolve)
    sent.once('error', reject)
    sent.end(JSON.stringify(body))
  })
}

/**
 * Waits until a number has stopped growing for forty turns of the event loop, in each of which the
 * growth had a chance. A long pause would not do: the thread may have stood still during it.
 */
export async function settled(read: () => number): Promise<number> {
  let last = read()
  for (let turns = 0; turns < 40; turns++) {
    await sleep(5)
    if (read() !== last) turns = 0
    last = read()
  }
  return last
}
