/**
 * Labels and forms of yes and no that a user has chosen. Each must be one token; for those that are
 * not, the message says how they are tokenized.
 *
 * @module
 */

import type { Engine, PromptPart } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import { type Label, type NoulTokens, singleTokens } from '../labels.js'
import type { Layout } from '../plain-layout.js'
import type { NoulForms } from './types.js'

/** The most faults that one message names. */
const shownFaults = 5

/**
 * The labels with their tokens: in the form that the layout prefers, or, if not all labels work in
 * it, in the other form.
 *
 * @param texts - Distinct, at least two.
 * @throws {@link OiError} `ERR_READOUT` naming the labels that are not single, distinct, ordinary
 *   tokens in the better form, and how they are tokenized instead.
 */
export async function ownLabels(
  engine: Engine,
  layout: Layout,
  texts: readonly string[],
): Promise<Label[]> {
  const other = layout.labelPrefix === '' ? ' ' : ''
  let nearest: readonly string[] = []
  let most = -1
  for (const prefix of [layout.labelPrefix, other]) {
    const forms = texts.map((text) => prefix + text)
    const tokens = await singleTokens(engine, layout.tail, forms)
    const distinct = new Set(tokens.filter((token) => token !== undefined)).size
    if (distinct === texts.length) return texts.map((text, i) => ({ text, token: tokens[i]! }))
    if (distinct > most) [nearest, most] = [forms, distinct]
  }
  return refuse(engine, layout.tail, nearest, 'labels')
}

/**
 * The tokens of every form.
 *
 * @throws {@link OiError} `ERR_READOUT` as {@link ownLabels}.
 */
export async function ownNoulTokens(
  engine: Engine,
  { tail }: Layout,
  { no, yes }: NoulForms,
): Promise<NoulTokens> {
  const texts = [...no, ...yes]
  const tokens = await singleTokens(engine, tail, texts)
  if (tokens.some((token) => token === undefined) || new Set(tokens).size < tokens.length) {
    return refuse(engine, tail, texts, 'noul')
  }
  const forms = texts.map((text, i) => ({ text, token: tokens[i]! }))
  return { no: forms.slice(0, no.length), yes: forms.slice(no.length) }
}

async function refuse(
  engine: Engine,
  tail: string,
  texts: readonly string[],
  place: string,
): Promise<never> {
  const [before, ...behind] = await engine.tokenize(
    ['', ...texts].map((text) => trusted(tail + text)),
  )
  const owners = new Map<number, string>()
  const faults: string[] = []
  for (const [i, ids] of behind.entries()) {
    const shown = JSON.stringify(texts[i])
    const own = ids.subarray(before!.length)
    const joined = before!.some((id, at) => id !== ids[at])
    if (joined || own.length === 0) {
      faults.push(`${shown} is no token of its own behind the text before it`)
    } else if (own.length > 1) {
      faults.push(`${shown} is split into ${await piecesOf(engine, texts[i]!, own)}`)
    } else if (!engine.areOrdinary(own)[0]) {
      faults.push(`${shown} is no ordinary token`)
    } else if (owners.has(own[0]!)) {
      faults.push(`${shown} is the same token as ${owners.get(own[0]!)}`)
    } else {
      owners.set(own[0]!, shown)
    }
  }
  const more = faults.length > shownFaults ? `, and ${faults.length - shownFaults} more` : ''
  throw new OiError(
    'ERR_READOUT',
    `${place}: expected single tokens, but ${faults.slice(0, shownFaults).join(', ')}${more}`,
  )
}

/** The texts of a label's tokens, or their number if the texts are unknown. */
async function piecesOf(engine: Engine, text: string, ids: Int32Array): Promise<string> {
  const runs: string[] = []
  for (let from = 0; from < text.length; from++) {
    for (let to = from + 1; to <= text.length; to++) runs.push(text.slice(from, to))
  }
  const tokens = await engine.tokenize(runs.map(trusted))
  const singles = new Map(runs.map((run, i) => [run, tokens[i]!.length === 1 ? tokens[i]![0] : -1]))
  const pieces: string[] = []
  let at = 0
  for (const id of ids) {
    const lengths = Array.from({ length: text.length - at }, (_, i) => i + 1)
    const length = lengths.find((count) => singles.get(text.slice(at, at + count)) === id)
    if (length === undefined) return `${ids.length} tokens`
    pieces.push(JSON.stringify(text.slice(at, at + length)))
    at += length
  }
  return pieces.join(' ')
}

function trusted(text: string): PromptPart {
  return { text, trusted: true }
}
