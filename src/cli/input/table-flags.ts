/**
 * The flags by which commands that read labelled rows take them from a table.
 *
 * @module
 */

import type { Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { fileText } from '../../api/file-text.js'
import { isJsonObject, keysOf, parseJson } from '../../api/json.js'
import { mostOptions } from '../../api/limits.js'
import { checkRequest } from '../../api/read-request.js'
import type { DecideRequest } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { labelledReader, type RowReader } from '../../evaluate/rows/rows.js'
import { tableReader } from '../../evaluate/rows/table-rows.js'
import { requireFile } from '../../open-input.js'
import { together } from './values.js'

export interface TableFlags {
  readonly questions?: string
  readonly state?: readonly string[]
  readonly expected?: readonly string[]
}

/** What a flag says if it is not given. */
export const usualState = 'text'

/** The model itself limits questions and options, row by row. */
export const rowLimits = {
  maxQuestions: 65_536,
  maxOptions: mostOptions,
  maxLevels: mostOptions,
}

export function addTableFlags(command: Command): Command {
  return command
    .option(
      '--questions <file>',
      'the rows have texts and labels only; this JSON has the questions',
    )
    .option(
      '--state <column>',
      `column of the state (default: ${usualState}); repeatable`,
      together,
    )
    .option(
      '--expected <column>',
      'column of the right answer (default: the name of its question), or question=column; ' +
        'repeatable',
      together,
    )
}

/**
 * How rows are read: as whole requests, or by these flags as texts and labels.
 *
 * @returns Also the questions that stand beside the rows.
 * @throws {@link OiError} `ERR_CONFIG` naming the flag.
 */
export async function rowReader(
  flags: TableFlags,
): Promise<{ reader: RowReader; questions?: DecideRequest['questions'] }> {
  const { questions: path, state = [usualState], expected = [] } = flags
  if (path === undefined) {
    if (flags.state === undefined && flags.expected === undefined) return { reader: labelledReader }
    throw new OiError('ERR_CONFIG', '--state and --expected need --questions <file>')
  }
  const questions = await readQuestions(path)
  const names = keysOf(questions)
  const columns = expected.map((each) => columnOf(each, names))
  const chosen = columns.length > 0 ? columns : names.map((name) => [name, name] as const)
  const reader = tableReader({ questions, state, expected: Object.fromEntries(chosen) })
  return { reader, questions }
}

async function readQuestions(path: string): Promise<DecideRequest['questions']> {
  await requireFile(path, 'ERR_CONFIG')
  try {
    const read = parseJson(fileText(await readFile(path)))
    // A request body will do: its state is not used.
    const questions = isJsonObject(read) && 'questions' in read ? read['questions'] : read
    return checkRequest({ state: '', questions }, rowLimits).questions
  } catch (cause) {
    throw new OiError('ERR_CONFIG', `--questions ${path}: ${(cause as Error).message}`, { cause })
  }
}

/** The question of a column, and the column. */
function columnOf(text: string, names: readonly string[]): readonly [string, string] {
  const at = names.find((name) => text.startsWith(`${name}=`))
  if (at !== undefined) return [at, text.slice(at.length + 1)]
  const name = names.length === 1 ? names[0] : names.find((each) => each === text)
  if (name !== undefined) return [name, text]
  const list = names.map((each) => JSON.stringify(each)).join(', ')
  throw new OiError('ERR_CONFIG', `--expected ${text}: expected question=column, of ${list}`)
}
