/** Models of hidden states: a fixture with other metadata, and what it is asked. */
import { join } from 'node:path'
import type { DecideRequest, Question } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { type FixtureName, fixturePath, openEngine, text } from './fixture.js'
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
export async function withModelFile<T>(
  modelPath: string,
  options: Partial<Parameters<typeof openEngine>[0]>,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine({ modelPath, threads: 1, maxBacklogMs: 2 ** 31, ...options })
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

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
export async function optionLogits(engine: Engine, request: DecideRequest): Promise<number[][]> {
  const input = await renderedBy(engine, request)
  const { logits } = await engine.score(input)
  let at = 0
  return input.suffixes.map(({ candidates }) => {
    const own = [...logits.subarray(at, at + candidates.length)]
    at += candidates.length + 1
    return own
  })
}
