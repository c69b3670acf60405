/**
 * Follows every option of a rendered question to its label, as the model would have to write it.
 *
 * It is independent of the code that finds labels: the listed text is tokenized again, and compared
 * with the candidates.
 *
 * @module
 */

import type { Engine } from '../../src/engine/types.js'
import type { Rendering } from '../../src/prompt/types.js'

/**
 * Checks a rendering of one `choice`: each option's candidate must be the one token of its label
 * after the tail, and no two may be the same.
 *
 * @param names - Names of the options, none of which needs quotes.
 * @returns Tokens of the question.
 * @throws Error naming the first option that fails.
 */
export async function checkOptions(
  engine: Engine,
  { input }: Rendering,
  names: readonly string[],
): Promise<number> {
  const { parts, candidates } = input.suffixes[0]!
  const tail = parts[1]!.text
  const lines = parts[0]!.text.split('\n')
  const labels = names.map((name) => {
    const line = lines.find((text) => text.endsWith(`: ${name}`))
    if (line === undefined) throw new Error(`${name}: is not listed`)
    return line.slice(0, -`: ${name}`.length)
  })
  const tokensOf = async (texts: readonly string[]) =>
    (await engine.tokenize(texts.map((text) => ({ text, trusted: true })))).map((ids) => ids.join())
  const [before] = await tokensOf([tail])
  const direct = await tokensOf(labels.map((label) => tail + label))
  const spaced = await tokensOf(labels.map((label) => `${tail} ${label}`))
  for (const [i, name] of names.entries()) {
    const whole = `${before},${candidates[i]}`
    if (direct[i] !== whole && spaced[i] !== whole) {
      throw new Error(`${name}: its label ${labels[i]} is another token than its candidate`)
    }
    const other = candidates.indexOf(candidates[i]!)
    if (other < i) throw new Error(`${name}: has the label of ${names[other]}`)
  }
  const tokens = await engine.tokenize(parts)
  return tokens.reduce((sum, { length }) => sum + length, 0)
}
