/**
 * Fixtures with NaN among their weights.
 *
 * @module
 */

import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs'
import { readGgufHeader } from '../../src/engine/gguf-header.js'
import { user, whileOpen } from './fixture.js'

/**
 * Copies a model of F32 weights to `to`, with NaN in a whole tensor, or in a token's row of it.
 *
 * @returns `to`
 */
export async function poisoned(
  from: string,
  to: string,
  tensor: string,
  row?: number,
): Promise<string> {
  const header = await readGgufHeader(from)
  if (typeof header === 'string') throw new Error(header)
  const found = header.tensors.find(({ name }) => name === tensor)
  if (found?.type !== 0) throw new Error(`${from} has no ${tensor} of F32`)
  const [width = 0, ...others] = found.dims
  const rows = others.reduce((product, count) => product * count, 1)
  const numbers = new Float32Array(width * (row === undefined ? rows : 1)).fill(NaN)
  copyFileSync(from, to)
  const file = openSync(to, 'r+')
  writeSync(file, numbers, 0, numbers.byteLength, at(header.dataOffset, found.offset, width, row))
  closeSync(file)
  return to
}

/** The same with the row of a word's first token: what names it has no finite answer. */
export async function poisonedWord(from: string, to: string, word: string): Promise<string> {
  const [ids] = await whileOpen({ modelPath: from, metadataOnly: true }, (engine) =>
    engine.tokenize([user(word)]),
  )
  return poisoned(from, to, 'token_embd.weight', ids![0])
}

const at = (data: number, tensor: number, width: number, row = 0) => data + tensor + row * width * 4
