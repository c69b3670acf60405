/**
 * An encoder of the architecture `bert` with a head of `markers@1`, in double precision and as
 * plain as possible: src/prompt/hidden/README.md, computed from the weights of an F32 file.
 */
import { type GgufFile, readGguf } from './gguf-file.js'
import { attend, dot, product, sum, type Vector, Weights } from './vectors.js'

type Role = 'none' | 'state' | 'question' | 'marker' | 'option'

/** A token of a pass. */
export interface PassToken {
  readonly token: number
  readonly position: number
  readonly role: Role
  /** A marker or an option's text. */
  readonly option?: number
  /** The row of its token type; default 0. */
  readonly type?: number
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

  /** One logit for each option of a pass. */
  logits(pass: readonly PassToken[]): number[] {
    const states = this.states(pass)
    const meanOf = (of: (token: PassToken) => boolean): Vector => {
      const own = states.filter((_, i) => of(pass[i]!))
      return mean(own, this.#width)
    }
    const state = meanOf(({ role }) => role === 'state')
    const question = meanOf(({ role }) => role === 'question')
    const options = new Set(pass.flatMap(({ option }) => option ?? []))
    return [...options].map((own) =>
      this.#logit({
        marker: meanOf(({ role, option }) => role === 'marker' && option === own),
        option: meanOf(({ role, option }) => role === 'option' && option === own),
        state,
        question,
        first: states[0]!,
        'alone.state': this.#alone(pass.filter(({ role }) => role === 'state')),
        'alone.question': this.#alone(pass.filter(({ role }) => role === 'question')),
        'alone.option': this.#alone(
          pass.filter(({ role, option }) => role === 'option' && option === own),
        ),
      }),
    )
  }

  /** The mean state of a pass that holds a text alone. */
  #alone(text: readonly PassToken[]): Vector {
    const template = this.#file.meta.get('oi.markers.alone') as string | undefined
    if (template === undefined || text.length === 0) return new Float64Array(this.#width)
    const known = this.#file.meta.get('tokenizer.ggml.tokens') as string[]
    const [before, after] = template.split('{text}').map((token) => known.indexOf(token))
    const tokens = [before!, ...text.map(({ token }) => token), after!]
    const pass = tokens.map((token, position) => ({ token, position, role: 'none' as const }))
    return mean(this.states(pass), this.#width)
  }

  /** The state of each token after the last layer. `sees`: whether token i attends to token j. */
  states(pass: readonly PassToken[], sees: Sees = () => true): Vector[] {
    let x = pass.map(({ token, position, type = 0 }) => {
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

  #logit(summaries: Readonly<Record<string, Vector>>): number {
    let logit = 0
    const scale = this.#file.meta.get('oi.markers.head.cosine.scale')
    if (scale !== undefined) {
      const map = this.#head('cosine.weight')
      const mapped = (x: Vector) => (map.length === 0 ? x : product(map, x))
      const alone = this.#file.meta.get('oi.markers.head.cosine.alone') ? 'alone.' : ''
      const gate = this.#head('cosine.gate')
      const open = gate.length === 0 ? 0 : dot(gate, summaries['marker']!)
      const [a, b] = [summaries[`${alone}option`]!, summaries[`${alone}state`]!]
      logit += ((scale as number) + open) * cosine(mapped(a), mapped(b))
    }
    const asked = this.#head('question.gate')
    if (asked.length > 0) {
      const near = cosine(summaries['alone.question']!, summaries['alone.state']!)
      logit += dot(asked, summaries['marker']!) * near
    }
    const inputs = this.#file.meta.get('oi.markers.head.inputs') as string[] | undefined
    if (inputs === undefined) return logit
    const x = Float64Array.from(inputs.flatMap((input) => [...inputOf(input, summaries)]))
    const hidden = sum(product(this.#head('hidden.weight'), x), this.#head('hidden.bias'))
    const bias = this.#file.meta.get('oi.markers.head.output.bias') as number
    return logit + bias + dot(hidden.map(geluByErf), this.#head('output.weight'))
  }

  #head(name: string): Vector {
    const values = this.#file.meta.get(`oi.markers.head.${name}`)
    return Float64Array.from((values as Float32Array | undefined) ?? [])
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

function inputOf(text: string, of: Readonly<Record<string, Vector>>): Vector {
  const [, a, sign, b] = /^(?:\||cos\()?([\w.]+)(?:([*,-])([\w.]+)[|)]?)?$/.exec(text)!
  const [first, second] = [of[a!]!, of[b ?? a!]!]
  if (sign === ',') return Float64Array.of(cosine(first, second))
  if (sign === '*') return first.map((value, i) => value * second[i]!)
  if (sign === '-') return first.map((value, i) => Math.abs(value - second[i]!))
  return first
}

function cosine(a: Vector, b: Vector): number {
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths > 0 ? dot(a, b) / lengths : 0
}

function mean(rows: readonly Vector[], width: number): Vector {
  const all = new Float64Array(width)
  for (const row of rows) row.forEach((value, i) => (all[i]! += value / rows.length))
  return all
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
