/**
 * A request as a link: compressed, in the part of an address that no server sees.
 *
 * @module
 */

import type { DraftQuestions } from './draft.js'
import type { Thresholds } from './threshold.js'

/** What a link holds; images are too long for one. */
interface LinkedRequest {
  readonly state: { readonly form: 'text' | 'json'; readonly text: string }
  readonly questions: DraftQuestions
  readonly model: string
  readonly orders: string
  readonly thresholds: Thresholds
}

/** Longer addresses are cut by mail programs and chats. */
const mostLetters = 8000

/** @returns Undefined if it would be too long. */
export async function linkTo(request: LinkedRequest): Promise<string | undefined> {
  const text = await packed(JSON.stringify(request))
  if (text.length > mostLetters) return undefined
  return `${location.origin}${location.pathname}#/playground?request=${text}`
}

/** @returns Undefined if the link is damaged. */
export async function readLink(text: string): Promise<LinkedRequest | undefined> {
  try {
    const { state, questions, ...rest } = JSON.parse(await unpacked(text)) as LinkedRequest
    const isWhole =
      typeof state.text === 'string' &&
      Array.isArray(questions.fields) &&
      typeof questions.json === 'string'
    const { model = '', orders = '', thresholds = {} } = rest
    return isWhole ? { state, questions, model, orders, thresholds } : undefined
  } catch {
    return undefined
  }
}

async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'))
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

async function unpacked(text: string): Promise<string> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
  const whole = await through(bytes, new DecompressionStream('deflate-raw'))
  return new TextDecoder().decode(whole)
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const out = new Blob([bytes]).stream().pipeThrough(stream)
  return new Uint8Array(await new Response(out).arrayBuffer())
}
