/**
 * An encoder of the architecture `bert`, in double precision and as plain as possible: its hidden
 * states, computed from the weights of an F32 file.
 */
import { type GgufFile, readGguf } from './gguf-file.js'
import { attend, product, sum, type Vector, Weights } from './vectors.js'

interface PassToken {
  readonly token: number
  readonly position: number
  /** The row of its token type. */
  readonly type: number
}

type Sees = (i: number, j: number) => boolean

export class EncoderReference {
  readonly #file: GgufFile
  readonly #weights: Weights
  readonly #width: number

  constructor(path: string) {
    this.#file = readGguf(path)
    this.#weights = new Weights(this.#file)
    this.#width = this.#number('bert.embedding_length')
  }

  /** The state of each token after the last layer. `sees`: whether token i attends to token j. */
  states(pass: readonly PassToken[], sees: Sees): Vector[] {
    let x = pass.map(({ token, position, type }) => {
      const own = this.#row('token_embd.weight', token)
      const place = this.#row('position_embd.weight', position)
      const types = this.#row('token_types.weight', type)
      return this.#norm(
        own.map((value, i) => value + place[i]! + types[i]!),
        'token_embd_norm',
      )
    })
    for (let layer = 0; layer < this.#number('bert.block_count'); layer++) {
      const block = `blk.${layer}.`
      const attended = this.#attention(x, block, sees)
      x = x.map((row, i) => this.#norm(sum(row, attended[i]!), `${block}attn_output_norm`))
      const forward = x.map((row) => {
        const hidden = this.#product(row, `${block}ffn_up`).map(geluByTanh)
        return this.#product(hidden, `${block}ffn_down`)
      })
      x = x.map((row, i) => this.#norm(sum(row, forward[i]!), `${block}layer_output_norm`))
    }
    return x
  }

  #attention(x: readonly Vector[], block: string, sees: Sees): Vector[] {
    const of = (name: string) => x.map((row) => this.#product(row, block + name))
    const [queries, keys, values] = [of('attn_q'), of('attn_k'), of('attn_v')]
    const heads = this.#number('bert.attention.head_count')
    const size = this.#width / heads
    return queries.map((query, i) => {
      const seen = (rows: readonly Vector[]) => rows.filter((_, j) => sees(i, j))
      const out = new Float64Array(this.#width)
      for (let head = 0; head < heads; head++) {
        const part = (row: Vector) => row.subarray(head * size, (head + 1) * size)
        out.set(attend(part(query), seen(keys).map(part), seen(values).map(part)), head * size)
      }
      return this.#product(out, `${block}attn_output`)
    })
  }

  #number(key: string): number {
    return this.#file.meta.get(key) as number
  }

  #tensor(name: string): Vector {
    return this.#weights.tensor(name)
  }

  #row(name: string, row: number): Vector {
    return this.#tensor(name).subarray(row * this.#width, (row + 1) * this.#width)
  }

  #product(x: Vector, name: string): Vector {
    return sum(product(this.#tensor(`${name}.weight`), x), this.#tensor(`${name}.bias`))
  }

  #norm(x: Vector, name: string): Vector {
    const weight = this.#tensor(`${name}.weight`)
    const bias = this.#tensor(`${name}.bias`)
    const centre = x.reduce((all, value) => all + value, 0) / x.length
    const variance = x.reduce((all, value) => all + (value - centre) ** 2, 0) / x.length
    const deviation = Math.sqrt(variance + this.#number('bert.attention.layer_norm_epsilon'))
    return x.map((value, i) => ((value - centre) / deviation) * weight[i]! + bias[i]!)
  }
}

function geluByTanh(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))
}

export function geluByErf(x: number): number {
  return 0.5 * x * (1 + erf(x / Math.SQRT2))
}

/** erf by its series; 1 or -1 for large arguments. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x)
  let term = x
  let all = x
  for (let n = 1; Math.abs(term) > 1e-17; n++) {
    term *= -(x * x) / n
    all += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * all
}
