/**
 * The labels of decision models: texts that are one token by themselves.
 *
 * They are tokenized alone, and not behind the prompt as the labels of `letters`: these models were
 * trained with those tokens, even if a vocabulary splits the prompt's end and a label otherwise.
 *
 * @module
 */

import { mostOptions } from '../../api/limits.js'
import type { Engine } from '../../engine/types.js'
import { lower, pairs, singleTokens, upper } from '../labels.js'

export interface Code {
  readonly text: string
  /** One token, or several of which the likeliest counts. */
  readonly tokens: readonly number[]
}

const numbers = (count: number, digits: number) =>
  Array.from({ length: count }, (_, i) => String(i).padStart(digits, '0'))

/**
 * A to Z, then a to z, up to the first letter that is not one token: each place has its own letter.
 */
export async function letterCodes(engine: Engine): Promise<Code[]> {
  const letters = [...upper, ...lower]
  const tokens = await singleTokens(engine, '', letters)
  const end = tokens.findIndex((token, i) => token === undefined || tokens.indexOf(token) < i)
  return letters
    .slice(0, end === -1 ? undefined : end)
    .map((text, i) => ({ text, tokens: [tokens[i]!] }))
}

/** A to Z, then AA to ZZ: those that are one token, up to 255. */
export async function pairCodes(engine: Engine): Promise<Code[]> {
  const texts = [...upper, ...pairs(upper, upper)]
  const tokens = await singleTokens(engine, '', texts)
  return texts
    .flatMap((text, i) => {
      const token = tokens[i]
      return token === undefined || tokens.indexOf(token) < i ? [] : [{ text, tokens: [token] }]
    })
    .slice(0, mostOptions)
}

/** d1's labels, which depend on the question. */
export interface OwnCodes {
  /**
   * Labels for the names of a choice: the names themselves if each is a letter; else letters for up
   * to 26 names, and numbers beyond. A label that is no single token is replaced by the next of a
   * long list. Undefined if there are not enough.
   */
  choice(names: readonly string[]): readonly Code[] | undefined
  /**
   * Labels for the levels of a score: their numbers, from 0, up to the first that is no single
   * token.
   */
  readonly levels: readonly Code[]
  readonly no: Code
  readonly yes: Code
  /** The forms of no and yes that are single tokens. */
  readonly noulForms: { readonly no: readonly string[]; readonly yes: readonly string[] }
}

const singleLetter = /^[A-Za-z]$/
const spares = [
  ...[...upper, ...numbers(100, 2), ...lower],
  ...[...numbers(200, 1).map((number) => `#${number}`), ...pairs(upper, upper)],
]

/** @returns Undefined if no form of yes or no form of no is one token. */
export async function ownCodes(engine: Engine): Promise<OwnCodes | undefined> {
  const noForms = ['no', 'No', 'NO']
  const yesForms = ['yes', 'Yes', 'YES']
  const levels = numbers(mostOptions, 1)
  const codes = [...new Set([...spares, ...numbers(mostOptions, 2)])]
  const asked = [...noForms, ...yesForms, ...levels, ...codes, ...codes.map((text) => ` ${text}`)]
  const found = await singleTokens(engine, '', asked)
  const tokens = new Map(asked.map((text, i) => [text, found[i]]))
  const isSingle = (text: string) => tokens.get(text) !== undefined
  const formsOf = (texts: readonly string[]): number[] => [
    ...new Set(texts.flatMap((text) => tokens.get(text) ?? [])),
  ]

  const [no, yes] = [formsOf(noForms), formsOf(yesForms)]
  if (no.length === 0 || yes.length === 0 || no.some((token) => yes.includes(token))) {
    return undefined
  }
  const unknown = levels.findIndex((text) => !isSingle(text))
  return {
    choice: (names) => chooseCodes(wishedCodes(names), tokens, formsOf),
    levels: levels
      .slice(0, unknown === -1 ? undefined : unknown)
      .map((text) => ({ text, tokens: [tokens.get(text)!] })),
    no: { text: 'no', tokens: no },
    yes: { text: 'yes', tokens: yes },
    noulForms: { no: noForms.filter(isSingle), yes: yesForms.filter(isSingle) },
  }
}

function wishedCodes(names: readonly string[]): readonly string[] {
  if (names.every((name) => singleLetter.test(name))) return names
  return names.length <= upper.length ? upper.slice(0, names.length) : numbers(names.length, 2)
}

function chooseCodes(
  wished: readonly string[],
  tokens: ReadonlyMap<string, number | undefined>,
  formsOf: (texts: readonly string[]) => readonly number[],
): readonly Code[] | undefined {
  const taken = new Set<number>()
  const isFree = (text: string): boolean => {
    const token = tokens.get(text)
    return token !== undefined && !taken.has(token)
  }
  let spare = 0
  const codes: Code[] = []
  for (const wish of wished) {
    let text: string | undefined = wish
    while (text !== undefined && !isFree(text)) text = spares[spare++]
    if (text === undefined) return undefined
    taken.add(tokens.get(text)!)
    codes.push({ text, tokens: formsOf([text, ` ${text}`]) })
  }
  return codes
}
