/**
 * Public sets of labelled texts, in their published form.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'

export interface LabelledText {
  readonly text: string
  /** One of the set's intents. */
  readonly intent: string
}

export interface LabelledSet {
  readonly texts: readonly LabelledText[]
  readonly intents: readonly string[]
  /** The intent of texts that fit no other, if the set has such texts. */
  readonly outOfScope?: string
  /** Instructions of the question for the intent. */
  readonly instructions: string
}

/** A reader takes the set's folder and a part's name. @throws Error naming the file. */
export const readers: Readonly<Record<string, (folder: string, part: string) => LabelledSet>> = {
  banking77: readBanking77,
  clinc150: readClinc150,
}

/** `categories.json` and `PART.csv`, with the columns text and category. */
function readBanking77(folder: string, part: string): LabelledSet {
  const intents = readJson(folder, 'categories.json') as string[]
  const rows = parse<{ text: string; category: string }>(readText(folder, `${part}.csv`), {
    columns: (names: string[]) => {
      if (names.includes('text') && names.includes('category')) return names
      throw new Error(`${part}.csv: expected the columns text and category`)
    },
  })
  return checked(`${part}.csv`, {
    texts: rows.map(({ text, category }) => ({ text, intent: category })),
    intents,
    instructions: 'What does the customer of the bank ask about?',
  })
}

/** `domains.json`, `PART.jsonl` and `oos_PART.jsonl`. */
function readClinc150(folder: string, part: string): LabelledSet {
  const domains = readJson(folder, 'domains.json') as Readonly<Record<string, string[]>>
  const texts = [`${part}.jsonl`, `oos_${part}.jsonl`].flatMap((name) =>
    readText(folder, name)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as LabelledText),
  )
  return checked(`${part}.jsonl`, {
    texts,
    intents: [...Object.values(domains).flat(), 'oos'],
    outOfScope: 'oos',
    instructions: 'What does the user want of the assistant?',
  })
}

/** @throws Error naming the row (from 1) whose label is not an intent of the set. */
function checked(name: string, set: LabelledSet): LabelledSet {
  const known = new Set(set.intents)
  set.texts.forEach(({ text, intent }, i) => {
    if (typeof text === 'string' && text !== '' && known.has(intent)) return
    throw new Error(`${name}: row ${i + 1} has no text, or no intent of the set: "${intent}"`)
  })
  return set
}

function readText(folder: string, name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function readJson(folder: string, name: string): unknown {
  return JSON.parse(readText(folder, name))
}
