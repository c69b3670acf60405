/**
 * Labels: the texts that a model can answer with in exactly one token.
 *
 * Whether a text is one token depends on the text before it, so labels are tokenized where the
 * answer is read: the tail and the label together must give the tail's tokens and one more, which
 * is ordinary text and no other label's token.
 *
 * @module
 */

import { mostOptions } from '../api/limits.js'
import type { Engine, PromptPart } from '../engine/types.js'
import type { Layout } from './plain-layout.js'

export interface Label {
  /** Its text in the list of options, without a leading space. */
  readonly text: string
  readonly token: number
}

/** Tokens that mean no and yes, at least one each; their texts include leading spaces. */
export interface NoulTokens {
  readonly no: readonly Label[]
  readonly yes: readonly Label[]
}

export const upper = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
export const lower = upper.map((letter) => letter.toLowerCase())
const digits = [...'0123456789']
export const pairs = (first: readonly string[], second: readonly string[]) =>
  first.flatMap((a) => second.map((b) => a + b))

/** Tried in this order, each as a whole, until there are enough labels. */
const pools: readonly (readonly string[])[] = [
  upper,
  pairs(upper, upper),
  [...pairs(upper, digits), ...pairs(lower, lower)],
]

/**
 * The labels of a model, the plainest first: all in the form that the layout prefers, or, if the
 * tokenizer does not allow that, all in the other form.
 *
 * @param most - How many at most.
 * @returns Two or more, or none if neither form has two.
 */
export async function findLabels(
  engine: Engine,
  layout: Layout,
  most: number = mostOptions,
): Promise<Label[]> {
  for (const prefix of prefixesOf(layout)) {
    const labels = await labelsBehind(engine, layout.tail, prefix, most)
    if (labels.length >= 2) return labels
  }
  return []
}

/** The texts between the tail and a label: the layout's preferred one, then the other. */
function prefixesOf({ labelPrefix }: Layout): readonly ['' | ' ', '' | ' '] {
  return labelPrefix === '' ? ['', ' '] : [' ', '']
}

async function labelsBehind(
  engine: Engine,
  tail: string,
  prefix: string,
  most: number,
): Promise<Label[]> {
  const labels: Label[] = []
  const taken = new Set<number>()
  for (const pool of pools) {
    if (labels.length >= most) break
    const tokens = await singleTokens(
      engine,
      tail,
      pool.map((text) => prefix + text),
    )
    for (const [i, token] of tokens.entries()) {
      if (token === undefined || taken.has(token)) continue
      taken.add(token)
      labels.push({ text: pool[i]!, token })
    }
  }
  return labels.slice(0, most)
}

const noForms = ['No', 'no', 'NO', ' No', ' no', ' NO']
const yesForms = ['Yes', 'yes', 'YES', ' Yes', ' yes', ' YES']

/** The forms of no and yes that are single tokens; undefined if either has none. */
export async function findNoulTokens(
  engine: Engine,
  layout: Layout,
): Promise<NoulTokens | undefined> {
  const tokens = await singleTokens(engine, layout.tail, [...noForms, ...yesForms])
  const taken = new Set<number>()
  const distinct = (forms: readonly string[], at: number): Label[] =>
    forms.flatMap((text, i) => {
      const token = tokens[at + i]
      if (token === undefined || taken.has(token)) return []
      taken.add(token)
      return [{ text, token }]
    })
  const no = distinct(noForms, 0)
  const yes = distinct(yesForms, noForms.length)
  return no.length > 0 && yes.length > 0 ? { no, yes } : undefined
}

/**
 * For each text, its single token behind the tail; undefined if the tokens of both are not the
 * tail's own and one ordinary token: a text can change how the text before it is tokenized.
 */
export async function singleTokens(
  engine: Engine,
  tail: string,
  texts: readonly string[],
): Promise<(number | undefined)[]> {
  const part = (text: string): PromptPart => ({ text: tail + text, trusted: true })
  const [before, ...behind] = await engine.tokenize(['', ...texts].map(part))
  return behind.map((ids) => {
    const own = ids.subarray(before!.length)
    const isSingle = own.length === 1 && before!.every((id, i) => id === ids[i])
    return isSingle && engine.areOrdinary(own)[0] ? own[0] : undefined
  })
}
