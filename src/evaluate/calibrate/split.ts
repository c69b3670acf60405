/**
 * Splits rows into those that are fitted and those that are held out to judge the fit.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { stringifyJson } from '../../api/json.js'
import type { DecideRequest } from '../../decide/types.js'

/** A state and the images beside it. */
export type StateWithImages = Pick<DecideRequest, 'state' | 'images' | 'image' | 'assets'>

/** The images beside a state, as texts. */
export function imagesBeside({ images, image, assets }: Omit<StateWithImages, 'state'>): string[] {
  const all = [image, ...(Array.isArray(images) ? images : [images]), assets]
  return all
    .filter((value) => value !== undefined && value !== null)
    .map((value) => (typeof value === 'string' ? value : stringifyJson(value)))
}

/**
 * Names a row by its state and images: rows about one state stay together, so that no state is on
 * both sides.
 */
export function rowKey({ state, ...beside }: StateWithImages): string {
  const hash = createHash('sha256').update(stringifyJson(state))
  for (const image of imagesBeside(beside)) hash.update('\n').update(image)
  return hash.digest('base64url')
}

/**
 * Divides rows by a hash of seed and name, so a row's side does not depend on other rows.
 *
 * @param share - Expected share of held-out rows, 0 to 1.
 */
export function splitRows<T extends { readonly row: string }>(
  rows: readonly T[],
  share: number,
  seed: number,
): { readonly fitted: readonly T[]; readonly heldOut: readonly T[] } {
  const isHeldOut = rows.map(({ row }) => {
    const hash = createHash('sha256').update(`${seed}\n${row}`).digest()
    return hash.readUIntBE(0, 6) / 2 ** 48 < share
  })
  return {
    fitted: rows.filter((_, i) => !isHeldOut[i]),
    heldOut: rows.filter((_, i) => isHeldOut[i]),
  }
}
