/** Models of hidden states: a fixture with other metadata, and its expected answers. */
import { join } from 'node:path'
import t from 'tap'
import type { DecideRequest, Question } from '../../src/decide/types.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { EncoderReference, type PassToken } from './encoder-reference.js'
import { type FixtureName, fixturePath, openEngine, text } from './fixture.js'
import { type MetaValue, readGguf, writeGguf } from './gguf-file.js'
import { relativeError } from './reference.js'

/** A copy of the fixture with other metadata, in a folder of the test. */
export async function markersModel(
  folder: string,
  changes: Readonly<Record<string, MetaValue | undefined>>,
  fixture: FixtureName = 'encoder',
): Promise<string> {
  const path = join(folder, 'markers.gguf')
  writeGguf(path, readGguf(await fixturePath(fixture)), changes)
  return path
}

/** Opens the model, passes it to `use`, and always closes it. */
export async function withMarkers<T>(
  folder: string,
  changes: Readonly<Record<string, MetaValue | undefined>>,
  use: (engine: Engine, path: string) => Promise<T>,
  options: Partial<Parameters<typeof openEngine>[0]> = {},
  fixture: FixtureName = 'encoder',
): Promise<T> {
  const modelPath = await markersModel(folder, changes, fixture)
  const engine = await openEngine({ modelPath, threads: 1, maxBacklogMs: 2 ** 31, ...options })
  try {
    return await use(engine, modelPath)
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
export async function markerLogits(engine: Engine, request: DecideRequest): Promise<number[][]> {
  const input = await renderedBy(engine, request)
  const { logits } = await engine.score(input)
  let at = 0
  return input.suffixes.map(({ candidates }) => {
    const own = [...logits.subarray(at, at + candidates.length)]
    at += candidates.length + 1
    return own
  })
}

/** The expected {@link markerLogits} of questions that take one pass each. */
export async function expectedLogits(
  engine: Engine,
  request: DecideRequest,
  reference: { logits(pass: readonly PassToken[]): number[] },
): Promise<number[][]> {
  const { template, marker, positions } = (await createReadout(engine)).pass!
  const stateFirst = template.indexOf('{state}') < template.indexOf('{options}')
  const parallel = positions === 'parallel'
  const { prefix, suffixes } = await renderedBy(engine, request)
  const shared = await roles(engine, prefix, 'state')
  const passes: PassToken[][] = []
  for (const { parts } of suffixes) {
    const own = await roles(engine, parts, 'question', marker)
    passes.push(placed(stateFirst ? [...shared, ...own] : [...own, ...shared], parallel))
  }
  return passes.map((pass) => reference.logits(pass))
}

type Unplaced = Omit<PassToken, 'position'>

/**
 * A template's text has no role; a caller's has the role of its half or of the marker before it.
 */
async function roles(
  engine: Engine,
  parts: readonly PromptPart[],
  role: 'state' | 'question',
  marker?: string,
): Promise<Unplaced[]> {
  const ids = await engine.tokenize(parts)
  let option = -1
  return parts.flatMap((part, i): Unplaced[] => {
    const isMarker = part.trusted && part.text === marker
    if (isMarker) option++
    const isOption = i > 0 && parts[i - 1]!.trusted && parts[i - 1]!.text === marker
    const own = isMarker ? 'marker' : part.trusted ? 'none' : isOption ? 'option' : role
    const of = own === 'marker' || own === 'option' ? { option } : {}
    return [...ids[i]!].map((token) => ({ token, role: own, ...of }))
  })
}

function placed(tokens: readonly Unplaced[], parallel: boolean): PassToken[] {
  const first = tokens.findIndex(({ option }) => option !== undefined)
  let [position, end] = [0, 0]
  return tokens.map((token, i) => {
    if (parallel && token.role === 'marker') position = first
    if (parallel && token.option === undefined && i > first) position = Math.max(position, end)
    const own = { ...token, position: position++ }
    end = Math.max(end, position)
    return own
  })
}

type Changes = Readonly<Record<string, MetaValue | undefined>>

/** A test that the fixture with other metadata answers as {@link EncoderReference} does. */
export function testLogits(name: string, changes: Changes): void {
  t.test(`logits equal those of double precision: ${name}`, (t) =>
    withMarkers(t.testdir(), changes, async (engine, path) => {
      const reference = new EncoderReference(path)
      for (const words of [1, 9, 120]) {
        const request = mixedRequest(words)
        const actual = await markerLogits(engine, request)
        const expected = await expectedLogits(engine, request, reference)
        t.same(
          actual.map(({ length }) => length),
          [3, 2, 4, 2],
        )
        const error = relativeError(actual.flat(), expected.flat())
        t.ok(error < 1e-3, `${words} words: ${error}`)
      }
    }),
  )
}

/** A test that the fixture with other metadata is not opened. */
export function testFault(name: string, changes: Changes, message: RegExp): void {
  t.test(`a file with ${name} is refused by name`, async (t) => {
    const modelPath = await markersModel(t.testdir(), changes)
    await t.rejects(openEngine({ modelPath, metadataOnly: true }), {
      code: 'ERR_MODEL_UNSUPPORTED',
      message,
    })
  })
}
