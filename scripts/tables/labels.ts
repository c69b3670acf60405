/**
 * How a question of 255 options is asked with each of llama.cpp's vendored vocabularies.
 *
 * @module
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { mostOptions } from '../../src/api/limits.js'
import type { Engine } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { withVocabulary } from '../bench/engine-load.js'
import { llamaTree } from '../build/vendor.js'
import { ensureModel } from '../make-model/ensure.js'
import { markdownTable } from '../markdown.js'
import { checkOptions } from './check-options.js'

export interface Row {
  readonly vocabulary: string
  /** Tokens in it. */
  readonly size: number
  /** Texts that are single tokens at the start of a chat template's reply, and after `Answer:`. */
  readonly labels: { readonly chat: number; readonly plain: number }
  /** Tokens of the question. */
  readonly tokens: number
}

const names = Array.from({ length: mostOptions }, (_, i) => `option ${i + 1}`)
const request = {
  state: 'It rains.',
  questions: {
    q: {
      type: 'choice',
      instructions: 'Which one?',
      criteria: Object.fromEntries(names.map((name) => [name, null])),
    },
  },
} as const

/** The vendored vocabularies by name. */
export async function vocabularies(): Promise<string[]> {
  const { dir } = await llamaTree()
  return readdirSync(join(dir, 'models'))
    .flatMap((file) => /^ggml-vocab-(.+)\.gguf$/.exec(file)?.[1] ?? [])
    .sort()
}

/**
 * Renders the question and checks it to the last token. A small model is made around the
 * vocabulary, because a file with only a vocabulary cannot be opened.
 *
 * @throws Error if the question cannot be asked, or a candidate is not its option's label.
 */
export async function rowOf(vocabulary: string): Promise<Row> {
  const modelPath = await ensureModel('fixture-small', { vocab: vocabulary, type: 'Q8_0' })
  return withVocabulary(modelPath, async (engine) => {
    const tokens = await ask(engine)
    const plain = withoutTemplate(engine)
    await ask(plain)
    return {
      vocabulary,
      size: engine.info.vocabularySize,
      labels: { chat: await countLabels(engine), plain: await countLabels(plain) },
      tokens,
    }
  })
}

async function ask(engine: Engine): Promise<number> {
  const readout = await createReadout(engine)
  return checkOptions(engine, readout.render(request), names)
}

async function countLabels(engine: Engine): Promise<number> {
  return (await createReadout(engine, { maxLabels: Infinity })).labels.length
}

/** The same model, asked in plain text. */
function withoutTemplate(engine: Engine): Engine {
  return {
    info: { ...engine.info, chatTemplate: undefined },
    score: (input, options) => engine.score(input, options),
    tokenize: (texts) => engine.tokenize(texts),
    countTokens: (text) => engine.countTokens(text),
    stats: () => engine.stats(),
    areOrdinary: (ids) => engine.areOrdinary(ids),
    close: () => engine.close(),
  }
}

/** Of all vocabularies: what cannot be asked ends it. */
export async function labelTable(): Promise<string> {
  const rows: Row[] = []
  for (const vocabulary of await vocabularies()) {
    rows.push(await rowOf(vocabulary))
    console.error(`${vocabulary}: checked`)
  }
  return tableOf(rows)
}

const headings = ['Vocabulary', 'Tokens', 'Labels, chat', 'Labels, plain', 'Tokens of 255 options']

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ vocabulary, size, labels, tokens }) => [
    `\`${vocabulary}\``,
    ...[size, labels.chat, labels.plain, tokens].map((count) => count.toLocaleString('en')),
  ])
  return markdownTable(headings, cells)
}
