/**
 * Finds the ends of a template's trusted texts, with the vocabulary. The rules are those of
 * `systemone-template.ts`.
 *
 * @module
 */

import type { Engine } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import { isSame, lastCut, stateEndings } from '../cut-as-whole.js'
import { callerText } from './template-question.js'

/** The text of a template before and behind the state. */
export interface Split {
  readonly before: string
  readonly behind: string
}

export interface Borders {
  /** The text before the state of an example -> its trusted part. */
  readonly heads: ReadonlyMap<string, string>
  readonly commonHead: string
  readonly between: string
  readonly tail: string
}

/** Text that looks like a control token: `<…>` without a space in it, or `[WORD]`. */
const markPattern = /<[^<>\s]{1,64}>|\[\/?[A-Z_]{2,24}\]/g

/**
 * @param state - The text that stood for the state.
 * @param examples - The texts that the template wrote around it for questions of every kind.
 * @throws {@link OiError} `ERR_READOUT` if a rule is broken.
 */
export async function findBorders(
  engine: Engine,
  state: string,
  examples: readonly Split[],
): Promise<Borders> {
  const marks = await controlTokens(engine, examples)
  const heads = new Map<string, string>()
  for (const { before } of examples) {
    if (before.includes(callerText)) throw broken('the question before the state')
    heads.set(before, before.slice(0, lastEnd(before, marks)))
  }
  const tails = new Set(examples.map(({ behind }) => tailOf(behind, state, marks)))
  const [tail] = tails
  if (tail === undefined || tails.size > 1) {
    throw broken('texts behind the question that differ from question to question')
  }
  await requireSameTokens(engine, state, examples, heads, tail)

  const plain = examples.map(({ before, behind }) => ({
    lead: before.slice(heads.get(before)!.length),
    middle: behind.slice(0, behind.length - tail.length),
  }))
  const all = commonStart([...heads.values()])
  const commonHead = all.slice(0, lastEnd(all, marks))
  if (commonHead === '' && heads.size > 1) throw broken('nothing in common before the state')
  return { heads, commonHead, between: await cutBetween(engine, state, plain), tail }
}

/** The marks of the template that are one token in trusted text, but not in plain text. */
async function controlTokens(
  engine: Engine,
  examples: readonly Split[],
): Promise<readonly string[]> {
  const texts = examples.flatMap(({ before, behind }) => [before, behind])
  const found = [...new Set(texts.flatMap((text) => text.match(markPattern) ?? []))]
  const trusted = await engine.tokenize(found.map((text) => ({ text, trusted: true })))
  const plain = await engine.tokenize(found.map((text) => ({ text, trusted: false })))
  return found.filter((_, i) => trusted[i]!.length === 1 && !isSame(trusted[i]!, [plain[i]!]))
}

/** The end of the last mark; 0 without one. */
function lastEnd(text: string, marks: readonly string[]): number {
  const ends = marks.map((mark) => {
    const at = text.lastIndexOf(mark)
    return at === -1 ? 0 : at + mark.length
  })
  return Math.max(0, ...ends)
}

/** The text from the first control token on, which must be behind all of the caller's text. */
function tailOf(behind: string, state: string, marks: readonly string[]): string {
  const places = marks.map((mark) => behind.indexOf(mark)).filter((at) => at !== -1)
  if (places.length === 0) throw broken('no control token of this vocabulary behind the question')
  const tail = behind.slice(Math.min(...places))
  if (tail.includes(callerText)) throw broken('a control token inside the question')
  if (behind.includes(state)) throw broken('the state more than once')
  return tail
}

/** Rule 4 for control tokens. */
async function requireSameTokens(
  engine: Engine,
  state: string,
  examples: readonly Split[],
  heads: ReadonlyMap<string, string>,
  tail: string,
): Promise<void> {
  for (const { before, behind } of examples) {
    const text = before + state + behind
    const head = heads.get(before)!
    const plain = text.slice(head.length, text.length - tail.length)
    const [whole, ...parts] = await engine.tokenize([
      { text, trusted: true },
      { text: head, trusted: true },
      { text: plain, trusted: false },
      { text: tail, trusted: true },
    ])
    if (!isSame(whole!, parts)) throw broken('control tokens that look like plain text')
  }
}

/** Text behind a cut, longer than any token. */
const enough = 80

/**
 * The longest part of the common text behind the state at whose end a prompt may be cut, so that it
 * has the same tokens as without the cut (rule 4).
 */
async function cutBetween(
  engine: Engine,
  state: string,
  examples: readonly { readonly lead: string; readonly middle: string }[],
): Promise<string> {
  const common = commonStart(examples.map(({ middle }) => middle)).split(callerText)[0]!
  const texts = new Set(
    examples.flatMap(({ lead, middle }) => {
      const behind = middle.slice(0, common.length + enough)
      return stateEndings.map((ending) => JSON.stringify([lead + state + ending, behind]))
    }),
  )
  const pairs = [...texts].map((text) => JSON.parse(text) as [string, string])
  const ends = [...common.matchAll(/\n+|(?= )|$/g)].map((match) => match.index + match[0].length)
  return common.slice(0, (await lastCut(engine, pairs, [...new Set(ends)])) ?? 0)
}

function commonStart(texts: readonly string[]): string {
  return texts.reduce((start, text) => {
    let length = 0
    while (length < start.length && start[length] === text[length]) length++
    return start.slice(0, length)
  })
}

function broken(what: string): OiError {
  return new OiError('ERR_READOUT', `systemone template: it has ${what}`)
}
