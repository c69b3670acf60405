/** Vectors and weights in double precision, for references. */
import type { GgufFile } from './gguf-file.js'

export type Vector = Float64Array

/** The F32 tensors of a file, each read once. */
export class Weights {
  readonly #file: GgufFile
  readonly #read = new Map<string, Vector>()

  constructor(file: GgufFile) {
    this.#file = file
  }

  /** @throws Error if there is no F32 tensor of that name. */
  tensor(name: string): Vector {
    const known = this.#read.get(name)
    if (known !== undefined) return known
    const tensor = this.#file.tensors.get(name)
    if (tensor?.type !== 0) throw new Error(`${name} is not there, or not F32`)
    const count = tensor.dims.reduce((all, dim) => all * dim, 1)
    const values = Float64Array.from({ length: count }, (_, i) => tensor.data.readFloatLE(4 * i))
    this.#read.set(name, values)
    return values
  }
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
