/**
 * Headers of GGUF files that lie.
 *
 * @module
 */

import { readGgufHeader } from '../../src/engine/gguf-header.js'
import type { Random } from '../../test/helpers/random.js'

/** Where the things of a header stand in it. */
interface Place {
  readonly what: string
  /** Behind its name. */
  readonly at: number
}

export interface Subject {
  readonly header: Buffer
  readonly values: readonly Place[]
  readonly tensors: readonly Place[]
}

/** @param file - All of it, or its header. */
export async function readSubject(path: string, file: Buffer): Promise<Subject> {
  const header = await readGgufHeader(path)
  if (typeof header === 'string') throw new Error(`${path} ${header}`)
  const bytes = file.subarray(0, header.dataOffset)
  const place = (what: string): Place => ({ what, at: bytes.indexOf(what) + what.length })
  return {
    header: bytes,
    values: [...header.values.keys()].map(place),
    tensors: header.tensors.map(({ name }) => place(name)),
  }
}

const oddNumbers = [0, 1, 2, 3, 5, 7, 31, 64, 255, 4097, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]

/** @returns What was changed, in `header`, which is a copy. */
export function mutate({ header, values, tensors }: Subject, random: Random): string {
  const number = random.pick(oddNumbers)
  const kind = random.integer(8)
  if (kind < 3) {
    const { what, at } = random.pick(values)
    if (kind === 0) header.writeUInt32LE(random.integer(14), at)
    else header.writeUInt32LE(number, at + 4)
    return `${what} ${kind === 0 ? 'of another type' : `= ${number}`}`
  }
  if (kind < 7) {
    const { what, at } = random.pick(tensors)
    const dimensions = header.readUInt32LE(at)
    const type = at + 4 + 8 * dimensions
    if (kind === 3) header.writeUInt8(header.readUInt8(at - 1) ^ 1, at - 1)
    else if (kind === 4) header.writeUInt32LE(number, at + 4 + 8 * random.integer(dimensions))
    else if (kind === 5) header.writeUInt32LE(random.integer(40), type)
    else header.writeUInt32LE(32 * random.integer(2 ** 20), type + 4)
    return `${what} with another ${['name', 'shape', 'type', 'place'][kind - 3]}`
  }
  const at = random.integer(Math.min(header.length, 2048))
  header.writeUInt8(random.integer(256), at)
  return `byte ${at}`
}
