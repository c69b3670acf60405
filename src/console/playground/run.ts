/**
 * Requests a decision as an administrator.
 *
 * @module
 */

import { callText } from '../server.js'
import { readReply, type Reply } from './answer.js'

export interface Run {
  readonly reply: Reply
  /** From here to the server and back, milliseconds. */
  readonly roundTripMs: number
  /** The server's timings: names and milliseconds. */
  readonly timings: readonly (readonly [string, number])[]
}

/** @param orders - The value of `x-oi-orders`; '' is the model's setting. */
export async function decide(body: string, orders: string, signal: AbortSignal): Promise<Run> {
  const headers = { 'x-oi-evidence': '1', ...(orders !== '' && { 'x-oi-orders': orders }) }
  const startMs = performance.now()
  const reply = await callText('/decide', { method: 'POST', body, headers, signal })
  return {
    reply: readReply(reply.text, Number(reply.headers.get('x-oi-cached-tokens'))),
    roundTripMs: performance.now() - startMs,
    timings: timingsOf(reply.headers.get('server-timing') ?? ''),
  }
}

/** `model;dur=4.2, queue;dur=0.1`. */
function timingsOf(header: string): (readonly [string, number])[] {
  return [...header.matchAll(/([\w-]+);(?:[^,]*;)?dur=([\d.]+)/g)].map(
    ([, name, duration]) => [name!, Number(duration)] as const,
  )
}

export const ordersOptions = [
  { value: '', text: 'The model’s setting' },
  { value: '1', text: 'One' },
  { value: '2', text: 'Two: forward and reversed' },
  { value: 'all', text: 'All rotations' },
]
