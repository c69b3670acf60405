/**
 * The key by which a state is routed to one of several replicas.
 *
 * Rules
 *   1. The same state of the same scope has the same key, whatever is asked about it. Another
 *      scope's has another: which replica answers tells nothing of it.
 *   2. A state that grows, as a conversation does, has the same key until its length passes the
 *      next power of two: the part that counts is the largest power of two in it. So states that
 *      share less than half of their text, as a common beginning, have different keys.
 *   3. A short state counts as a whole: evaluating it again costs next to nothing, and common
 *      beginnings are a large part of it. Of a long state, only as much counts as takes some
 *      microseconds.
 *
 * @module
 */

import type { ImagePixels, PromptPart } from '../engine/types.js'

/** UTF-16 units. */
const [shortUnits, mostUnits] = [256, 4096]
/** Bytes of an image that count, spread evenly over it: many images have similar borders. */
const pixelBytes = 256

/**
 * @param prefix - A request's prefix: the caller's parts are the state; trusted parts are the
 *   template, the same for all.
 * @param scope - Who shares what is evaluated (`ScoreOptions`).
 * @returns 32 bits.
 */
export function stateKey(prefix: readonly PromptPart[], scope: string): number {
  const own = prefix.filter(({ trusted }) => !trusted)
  let left = unitsThatCount(own.reduce((sum, { text }) => sum + text.length, 0))
  let hash = 0x811c9dc5
  for (let i = 0; i < scope.length; i++) hash = step(hash, scope.charCodeAt(i))
  for (const { text, image } of own) {
    if (image !== undefined) hash = hashImage(hash, image)
    const units = Math.min(left, text.length)
    for (let i = 0; i < units; i++) hash = step(hash, text.charCodeAt(i))
    left -= units
  }
  return hash >>> 0
}

function unitsThatCount(units: number): number {
  return units < shortUnits ? units : Math.min(mostUnits, 2 ** Math.floor(Math.log2(units)))
}

function hashImage(start: number, { rgb, width, height }: ImagePixels): number {
  let hash = step(step(start, width), height)
  const stride = Math.max(1, Math.floor(rgb.length / pixelBytes))
  for (let i = 0; i < rgb.length; i += stride) hash = step(hash, rgb[i]!)
  return hash
}

/** FNV-1a over UTF-16 units instead of bytes. */
const step = (hash: number, unit: number) => Math.imul(hash ^ unit, 0x01000193)
