/** Models of hidden states: a fixture with other metadata, and what it is asked. */
import { join } from 'node:path'
import type { Test } from 'tap'
import type { DecideRequest, Question } from '../../src/decide/types.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { type FixtureName, fixturePath, openEngine, text, whileOpen } from './fixture.js'
import { type MetaValue, readGguf, writeGguf } from './gguf-file.js'

/** Metadata to change; undefined: to leave out. */
export type Changes = Readonly<Record<string, MetaValue | undefined>>

/** A copy of a fixture with other metadata, in a folder of the test. */
export async function changedFixture(
  folder: string,
  fixture: FixtureName,
  changes: Changes = {},
  type = 'F32',
): Promise<string> {
  const path = join(folder, `${fixture}.gguf`)
  writeGguf(path, readGguf(await fixturePath(fixture, { type })), changes)
  return path
}

/** Opens a model, passes it to `use`, and always closes it. */
export const withModelFile = <T>(
  modelPath: string,
  options: Partial<Parameters<typeof openEngine>[0]>,
  use: (engine: Engine) => Promise<T>,
) => whileOpen({ modelPath, threads: 1, maxBacklogMs: 2 ** 31, ...options }, use)

/** A file is refused when it is opened, for this reason. */
export const refusesModel = (
  t: Test,
  modelPath: string,
  message: RegExp,
  code = 'ERR_MODEL_UNSUPPORTED',
) => t.rejects(openEngine({ modelPath, metadataOnly: true }), { code, message })

/** Some questions of each type about a text of this many words. */
export function mixedRequest(words: number): DecideRequest {
  const questions: Record<string, Question> = {
    team: {
      type: 'choice',
      instructions: 'Which team should handle this?',
      criteria: { billing: 'invoices and payments', support: null, sales: 'new customers' },
    },
    urgent: { type: 'noul', instructions: 'Is it urgent?' },
    mood: {
      type: 'score',
      instructions: 'How content is the writer?',
      criteria: ['angry', 'neither', 'content', ''],
    },
    refund: {
      type: 'noul',
      instructions: 'Is money asked back?',
      criteria: { true: 'a refund is asked for', false: 'nothing is paid back' },
    },
  }
  return { state: text(words), questions }
}

/** The input of an engine for a request. */
export const renderedBy = async (engine: Engine, request: DecideRequest) =>
  (await createReadout(engine)).render(request).input

/** The logits of each question of a request, option by option. */
export const optionLogits = async (engine: Engine, request: DecideRequest) =>
  suffixLogits(engine, await renderedBy(engine, request))

/** The logits of each suffix, without their normaliser. */
export async function suffixLogits(engine: Engine, input: ScoreInput): Promise<number[][]> {
  const { logits } = await engine.score(input)
  let at = 0
  return input.suffixes.map(({ candidates }) => {
    const own = [...logits.subarray(at, at + candidates.length)]
    at += candidates.length + (candidates.length > 0 ? 1 : 0)
    return own
  })
}
