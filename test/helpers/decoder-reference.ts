/**
 * A decoder of the architecture `qwen3` with a head of `pointer@1`, in double precision and as
 * plain as possible: src/prompt/hidden/README.md, computed from the weights of an F32 file.
 */
import { type GgufFile, readGguf } from './gguf-file.js'
import { attend, dot, product, sum, type Vector, Weights } from './vectors.js'

export class DecoderReference {
  readonly #file: GgufFile
  readonly #weights: Weights
  readonly #width: number

  constructor(path: string) {
    this.#file = readGguf(path)
    this.#weights = new Weights(this.#file)
    this.#width = this.#number('embedding_length')
  }

  /** One logit for each option of a pass, of which the last tokens stand at `ends`. */
  logits(pass: readonly number[], ends: readonly number[]): number[] {
    const states = this.states(pass)
    const query = this.#layer('query', states.at(-1)!)
    const scale = this.#file.meta.get('oi.pointer.head.scale') as number
    return ends.map((end) => scale * dot(query, this.#layer('key', states[end]!)))
  }

  /** The state of each token after the last norm. */
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
        const of = (row: Vector, at: number) => row.subarray(at * size, (at + 1) * size)
        const own = Math.floor(head / shared)
        const seen = (rows: readonly Vector[]) => rows.slice(0, i + 1).map((row) => of(row, own))
        out.set(attend(of(query, head), seen(keys), seen(values)), head * size)
      }
      return this.#product(out, `${block}attn_output`)
    })
  }

  /** Each head's norm, and its rotation by the position (RoPE). */
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
    return this.#weights.tensor(`${name}.weight`)
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
