/**
 * A decoder of the architecture `qwen3` with a head of `pointer@1`, in double precision and as
 * plainly as can be: what src/prompt/hidden/README.md says, from the weights of an F32 file.
 */
import type { PassToken } from './encoder-reference.js'
import { type GgufFile, readGguf } from './gguf-file.js'

type Vector = Float64Array

export class DecoderReference {
  readonly #file: GgufFile
  readonly #weights = new Map<string, Vector>()
  readonly #width: number

  constructor(path: string) {
    this.#file = readGguf(path)
    this.#width = this.#number('embedding_length')
  }

  /** One logit for each option of a pass. */
  logits(pass: readonly PassToken[]): number[] {
    const states = this.states(pass.map(({ token }) => token))
    const ends = new Map(
      pass.flatMap(({ option }, i) => (option === undefined ? [] : [[option, i]])),
    )
    const query = this.#layer('query', states.at(-1)!)
    const scale = this.#file.meta.get('oi.pointer.head.scale') as number
    return [...ends.values()].map((end) => scale * dot(query, this.#layer('key', states[end]!)))
  }

  /** The state of each token behind the last norm. */
  states(tokens: readonly number[]): Vector[] {
    let x: Vector[] = tokens.map((token) => {
      return this.#tensor('token_embd').slice(token * this.#width, (token + 1) * this.#width)
    })
    for (let layer = 0; layer < this.#number('block_count'); layer++) {
      const block = `blk.${layer}.`
      const attended = this.#attention(
        x.map((row) => this.#norm(row, `${block}attn_norm`)),
        block,
      )
      x = x.map((row, i) => sum(row, attended[i]!))
      x = x.map((row) => {
        const normed = this.#norm(row, `${block}ffn_norm`)
        const gate = this.#product(normed, `${block}ffn_gate`)
        const up = this.#product(normed, `${block}ffn_up`)
        const hidden = gate.map((value, i) => (value / (1 + Math.exp(-value))) * up[i]!)
        return sum(row, this.#product(hidden, `${block}ffn_down`))
      })
    }
    return x.map((row) => this.#norm(row, 'output_norm'))
  }

  #attention(x: readonly Vector[], block: string): Vector[] {
    const size = this.#number('attention.key_length')
    const heads = this.#number('attention.head_count')
    const shared = heads / this.#number('attention.head_count_kv')
    const of = (name: string) => x.map((row) => this.#product(row, block + name))
    const turned = (name: string) =>
      of(name).map((row, position) => this.#turn(row, `${block}${name}_norm`, position))
    const [queries, keys, values] = [turned('attn_q'), turned('attn_k'), of('attn_v')]
    return queries.map((query, i) => {
      const out = new Float64Array(heads * size)
      for (let head = 0; head < heads; head++) {
        const own = query.subarray(head * size, (head + 1) * size)
        const from = Math.floor(head / shared) * size
        const scores = keys
          .slice(0, i + 1)
          .map((key) => dot(own, key.subarray(from, from + size)) / Math.sqrt(size))
        const most = Math.max(...scores)
        const weights = scores.map((score) => Math.exp(score - most))
        const total = weights.reduce((all, weight) => all + weight, 0)
        weights.forEach((weight, j) => {
          for (let k = 0; k < size; k++) {
            out[head * size + k]! += (weight / total) * values[j]![from + k]!
          }
        })
      }
      return this.#product(out, `${block}attn_output`)
    })
  }

  /** Each head's norm, and its rotation by the position. */
  #turn(row: Vector, norm: string, position: number): Vector {
    const size = this.#number('attention.key_length')
    const base = this.#number('rope.freq_base')
    const out = new Float64Array(row.length)
    for (let from = 0; from < row.length; from += size) {
      const head = this.#norm(row.slice(from, from + size), norm)
      for (let i = 0; i < size / 2; i++) {
        const angle = position * base ** ((-2 * i) / size)
        const [a, b] = [head[i]!, head[i + size / 2]!]
        out[from + i] = a * Math.cos(angle) - b * Math.sin(angle)
        out[from + i + size / 2] = a * Math.sin(angle) + b * Math.cos(angle)
      }
    }
    return out
  }

  #layer(name: string, x: Vector): Vector {
    const values = (part: string) => {
      const found = this.#file.meta.get(`oi.pointer.head.${name}.${part}`)
      return Float64Array.from(found as Float32Array)
    }
    return sum(product(values('weight'), x), values('bias'))
  }

  #number(key: string): number {
    return this.#file.meta.get(`qwen3.${key}`) as number
  }

  #tensor(name: string): Vector {
    let weights = this.#weights.get(name)
    if (weights === undefined) {
      const { data } = this.#file.tensors.get(`${name}.weight`)!
      const count = Math.floor(data.length / 4)
      weights = Float64Array.from({ length: count }, (_, i) => data.readFloatLE(4 * i))
      this.#weights.set(name, weights)
    }
    return weights
  }

  #product(x: Vector, name: string): Vector {
    return product(this.#tensor(name), x)
  }

  #norm(x: Vector, name: string): Vector {
    const weight = this.#tensor(name)
    const square = x.reduce((all, value) => all + value * value, 0) / x.length
    const length = Math.sqrt(square + this.#number('attention.layer_norm_rms_epsilon'))
    return x.map((value, i) => (value / length) * weight[i]!)
  }
}

const sum = (a: Vector, b: Vector): Vector => a.map((value, i) => value + b[i]!)

function dot(a: Vector, b: Vector): number {
  let all = 0
  for (let i = 0; i < a.length; i++) all += a[i]! * b[i]!
  return all
}

/** Rows of `weights`, each as long as x. */
function product(weights: Vector, x: Vector): Vector {
  const rows = Math.floor(weights.length / x.length)
  return Float64Array.from({ length: rows }, (_, row) =>
    dot(weights.subarray(row * x.length, (row + 1) * x.length), x),
  )
}
