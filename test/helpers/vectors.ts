/** Vectors and weights in double precision, for references. */
import type { GgufFile } from './gguf-file.js'

export type Vector = Float64Array

/** The tensors of a file in F32, F16 and Q8_0, each read once. */
export class Weights {
  readonly #file: GgufFile
  readonly #read = new Map<string, Vector>()

  constructor(file: GgufFile) {
    this.#file = file
  }

  /** @throws Error if there is no such tensor of that name. */
  tensor(name: string): Vector {
    const known = this.#read.get(name)
    if (known !== undefined) return known
    const tensor = this.#file.tensors.get(name)
    const read = readers.get(tensor?.type ?? -1)
    if (!tensor || !read) throw new Error(`${name} is not there, or none of F32, F16 and Q8_0`)
    const count = tensor.dims.reduce((all, dim) => all * dim, 1)
    const values = Float64Array.from({ length: count }, (_, i) => read(tensor.data, i))
    this.#read.set(name, values)
    return values
  }
}

/** Of a tensor's type, value i of its data. */
const readers = new Map<number, (data: Buffer, i: number) => number>([
  [0, (data, i) => data.readFloatLE(4 * i)],
  [1, (data, i) => half(data.readUInt16LE(2 * i))],
  // Blocks of a scale and 32 signed bytes.
  [8, (data, i) => half(data.readUInt16LE(block(i))) * data.readInt8(block(i) + 2 + (i % 32))],
])
const block = (i: number) => Math.floor(i / 32) * 34

/** A number in half precision. */
export function half(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023]
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15)
  return bits >> 15 ? -size : size
}

export const sum = (a: Vector, b: Vector): Vector => a.map((value, i) => value + b[i]!)

export function dot(a: Vector, b: Vector): number {
  let all = 0
  for (let i = 0; i < a.length; i++) all += a[i]! * b[i]!
  return all
}

/** A matrix times x; the matrix' rows are as long as x. */
export function product(matrix: Vector, x: Vector): Vector {
  return Float64Array.from({ length: matrix.length / x.length }, (_, row) =>
    dot(matrix.subarray(row * x.length, (row + 1) * x.length), x),
  )
}

/**
 * The output of one head: the mean of `values`, weighted by the match of each key and the query.
 */
export function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const scores = keys.map((key) => dot(query, key) / Math.sqrt(query.length))
  const most = Math.max(...scores)
  const weights = scores.map((score) => Math.exp(score - most))
  const total = weights.reduce((all, weight) => all + weight, 0)
  const out = new Float64Array(query.length)
  weights.forEach((weight, j) => {
    for (let i = 0; i < out.length; i++) out[i]! += (weight / total) * values[j]![i]!
  })
  return out
}
