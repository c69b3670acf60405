/**
 * Makes one request body from the input of `oi ask`.
 *
 * @module
 */

import {
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  type Json,
  objectFromEntries,
  parseJson,
  stringifyJson,
} from '../../api/json.js'
import type { Question } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { mediaTypes, sniff } from '../../images/media-type.js'
import { namingSource, readBytes, readText } from '../input/read-text.js'
import type { NamedQuestion } from './question-flags.js'

export interface AskInput {
  /** The argument: text, or `-` for standard input. */
  readonly state: string | undefined
  readonly stateFile?: string
  readonly jsonState?: boolean
  /** Image files, for images before the state. */
  readonly images: readonly string[]
  /** A file, or JSON that begins with `{`. */
  readonly questions?: string
  /** A file, or `-` for standard input. */
  readonly request?: string
  readonly asked: readonly NamedQuestion[]
}

/**
 * The text of the body.
 *
 * @throws {@link OiError} `ERR_CONFIG` naming the flag that is wrong or missing.
 */
export async function readAskInput(input: AskInput): Promise<string> {
  if (input.request === undefined) {
    const questions = await readQuestions(input)
    const images: string[] = []
    for (const path of input.images) images.push(await imageUrl(path))
    const state = await readState(input)
    return stringifyJson({ ...(images.length > 0 && { images }), state, questions })
  }
  const { state, stateFile, jsonState, questions, asked, images } = input
  const parts = [state, stateFile, jsonState, questions, asked[0], images[0]]
  if (parts.some((part) => part !== undefined)) {
    throw new OiError('ERR_CONFIG', '--request is the whole request: leave out all of its parts')
  }
  return readText(input.request, '--request')
}

async function readState(input: AskInput): Promise<Json> {
  // Images may stand without a state.
  const none = input.state === undefined && input.stateFile === undefined && !input.jsonState
  if (none && input.images.length > 0) return ''
  const [source, text] = await readStateText(input)
  if (text === '') throw new OiError('ERR_CONFIG', `${source} is empty`)
  return input.jsonState ? asJson(`${source} (--json-state)`, text) : text
}

async function readStateText({ state, stateFile }: AskInput): Promise<[string, string]> {
  if (state !== undefined && stateFile !== undefined) {
    throw new OiError('ERR_CONFIG', 'There are two states: the argument and --state-file')
  }
  if (stateFile !== undefined) {
    return ['The state file', withoutLastBreak(await readText(stateFile, '--state-file'))]
  }
  if (state !== undefined && state !== '-') return ['The state', state]
  if (state === undefined && process.stdin.isTTY) {
    throw new OiError(
      'ERR_CONFIG',
      'There is no state: give it as an argument, with --state-file <file>, or on standard input',
    )
  }
  return ['The state on standard input', withoutLastBreak(await readText('-'))]
}

/** The questions of the flags. @throws As {@link readAskInput}. */
export async function readQuestions({
  questions,
  asked,
}: Pick<AskInput, 'questions' | 'asked'>): Promise<Record<string, Json | Question>> {
  const entries: [string, Json | Question][] = []
  if (questions !== undefined) {
    const inline = questions.trimStart().startsWith('{')
    const text = inline ? questions : await readText(questions, '--questions')
    const read = asJson('--questions', text)
    const inside = isJsonObject(read) ? read['questions'] : undefined
    // A request body will do: its state is not used.
    const given = isJsonObject(inside) && !('type' in inside) ? inside : read
    if (!isJsonObject(given)) {
      throw new OiError('ERR_CONFIG', '--questions: expected an object: {"name": {"type": …}, …}')
    }
    const twice = duplicateKeyOf(given)
    if (twice !== undefined) throw twoOf(twice)
    entries.push(...entriesOf(given))
  }
  for (const { name = `q${entries.length + 1}`, question } of asked) {
    if (entries.some(([other]) => other === name)) throw twoOf(name)
    entries.push([name, question])
  }
  if (entries.length === 0) {
    throw new OiError(
      'ERR_CONFIG',
      'There is no question: ask with --noul, --choice, --score or --questions (oi ask --help)',
    )
  }
  return objectFromEntries(entries)
}

function twoOf(name: string): OiError {
  return new OiError('ERR_CONFIG', `There are two questions named ${JSON.stringify(name)}`)
}

function asJson(source: string, text: string): Json {
  return namingSource(source, () => parseJson(text))
}

/** Removes the line break that shells and editors put behind a text. */
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}

/**
 * An image as a data URL.
 *
 * @throws {@link OiError} `ERR_CONFIG` if the file cannot be read, or has none of the allowed image
 *   types.
 */
async function imageUrl(path: string): Promise<string> {
  const bytes = await readBytes(path, '--image')
  const type = sniff(bytes)
  if (type === undefined) {
    throw new OiError('ERR_CONFIG', `--image ${path}: expected one of ${mediaTypes.join(', ')}`)
  }
  return `data:${type};base64,${bytes.toString('base64')}`
}
