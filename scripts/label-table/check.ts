/**
 * Follows every option of a rendered question to its label, as the model would have to write it.
 *
 * It is independent of the code that finds labels: the listed text is tokenized again, and compared
 * with the candidates.
 *
 * @module
 */

import type { Engine, Suffix } from '../../src/engine/types.js'
import type { Rendering } from '../../src/prompt/types.js'
import type { Step } from '../../src/scoring/types.js'

/** The cost of a question: its suffixes, and the tokens of all of them. */
export interface Cost {
  readonly suffixes: number
  readonly tokens: number
}

/**
 * Checks a rendering of one `choice`: each option's steps must be the tokens of its label after the
 * tail, each read where the tokens before it stand, and no two options may have the same steps.
 *
 * @param names - Names of the options, none of which needs quotes.
 * @throws Error naming the first option that fails.
 */
export async function checkOptions(
  engine: Engine,
  { input, readers }: Rendering,
  names: readonly string[],
): Promise<Cost> {
  const { suffixes } = input
  const labels = names.flatMap((name, option) =>
    labelSteps(readers[0]!, option).map((steps) => {
      const [first] = steps
      return { name, steps, label: labelOf(textOf(suffixes[first!.suffix]!), name) }
    }),
  )
  const tails = suffixes.map(tailOf)
  const tail = suffixes[0] === undefined ? '' : tailOf(suffixes[0])
  const tokensOf = await tokenizer(engine, [
    ...tails,
    ...labels.flatMap(({ label }) => [tail + label, `${tail} ${label}`]),
  ])

  const before = tokensOf(tail)
  for (const { name, steps, label } of labels) {
    const path = steps.map(({ suffix, candidate }) => suffixes[suffix]!.candidates[candidate]!)
    const whole = [...before, ...path].join()
    if (![tail + label, `${tail} ${label}`].some((text) => tokensOf(text).join() === whole)) {
      throw new Error(`${name}: its label ${label} has other tokens than its steps`)
    }
    for (const [i, { suffix }] of steps.entries()) {
      if (tokensOf(tails[suffix]!).join() === [...before, ...path.slice(0, i)].join()) continue
      throw new Error(`${name}: step ${i + 1} is not read after the steps before it`)
    }
  }
  requireDistinct(names, readers[0]!)
  return { suffixes: suffixes.length, tokens: await countTokens(engine, suffixes) }
}

/** The steps of an option, by the label that they spell: one per step of groups, else one. */
function labelSteps({ reading }: Rendering['readers'][number], option: number): Step[][] {
  if (reading.kind === 'labels') return [[{ suffix: 0, candidate: option }]]
  if (reading.kind !== 'steps') throw new Error('a question of labels in one order was expected')
  const steps = [...reading.options[option]![0]!]
  return reading.over === 'vocabulary' ? [steps] : steps.map((step) => [step])
}

function requireDistinct(names: readonly string[], reader: Rendering['readers'][number]): void {
  const paths = new Map<string, string>()
  for (const [option, name] of names.entries()) {
    const path = JSON.stringify(labelSteps(reader, option))
    const other = paths.get(path)
    if (other !== undefined) throw new Error(`${name}: has the steps of ${other}`)
    paths.set(path, name)
  }
}

/** The label of an option's line, alone or in a group. */
function labelOf(text: string, name: string): string {
  const lines = text.split('\n')
  const own = lines.find((line) => line.endsWith(`: ${name}`))
  if (own !== undefined) return own.slice(0, -`: ${name}`.length)
  const place = lines.indexOf(`- ${name}`)
  const group = lines.slice(0, Math.max(0, place)).findLast((line) => /^\S+:$/.test(line))
  if (group === undefined) throw new Error(`${name}: is not listed`)
  return group.slice(0, -1)
}

const textOf = ({ parts }: Suffix) => parts[0]!.text
const tailOf = ({ parts }: Suffix) => parts[1]!.text

async function tokenizer(
  engine: Engine,
  texts: readonly string[],
): Promise<(text: string) => Int32Array> {
  const known = [...new Set(texts)]
  const ids = await engine.tokenize(known.map((text) => ({ text, trusted: true })))
  const tokens = new Map(known.map((text, i) => [text, ids[i]!]))
  return (text) => tokens.get(text)!
}

async function countTokens(engine: Engine, suffixes: readonly Suffix[]): Promise<number> {
  const ids = await engine.tokenize(suffixes.flatMap(({ parts }) => parts))
  return ids.reduce((sum, { length }) => sum + length, 0)
}
