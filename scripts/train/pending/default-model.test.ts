/**
 * What the default model answers to everyday requests, written down before it was trained.
 *
 * Needs the built addon; the model is in the package, so nothing here is ever skipped. A right answer
 * is the likeliest one, sure beyond .6; of a score, the expected level within half a level.
 *
 * Goes to `test/model/`, with `everyday.json` to `test/fixtures/`, when the model is there.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, DecideRequest } from '../../../src/decide/types.js'
import { defaultModelPath } from '../../../src/models/default-model.js'
import { open } from '../../../src/open.js'
import { packageRoot } from '../../../src/package-root.js'

interface Example extends DecideRequest {
  readonly about: string
  readonly expected: Readonly<Record<string, boolean | string | number>>
}

const least = 0.6
const examples = JSON.parse(
  readFileSync(join(packageRoot, 'test', 'fixtures', 'everyday.json'), 'utf8'),
) as readonly Example[]

const oi = await open({ model: defaultModelPath()! })
t.teardown(() => oi.close())

for (const { about, state, questions, expected } of examples) {
  void t.test(about, async (t) => {
    const { answers } = await oi.decide({ state, questions })
    for (const [name, right] of Object.entries(expected)) {
      const answer = answers[name]!
      const shown = JSON.stringify(answer)
      if (answer.type === 'score') t.ok(Math.abs(answer.score - Number(right)) <= 0.5, shown)
      else t.ok(probabilityOf(answer, right) > least, `${name}: ${String(right)}, got ${shown}`)
    }
  })
}

function probabilityOf(answer: Exclude<Answer, { type: 'score' }>, right: unknown): number {
  if (answer.type === 'choice') return answer.probabilities[String(right)] ?? NaN
  return right === true ? answer.noul : 1 - answer.noul
}
