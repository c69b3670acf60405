/**
 * Answers in the form of `POST /v1/decisions`.
 *
 * @module
 */

import type { Answer, Decision } from '../../decide/types.js'
import { keysOf } from '../json.js'
import type { Asked, AskedDecision } from './read-decision.js'

/** The reply's text. */
export function writeDecision(decision: Decision, { asked }: AskedDecision): string {
  const { model, usage, cached_tokens: cached } = decision
  const answers = [...asked].map(([name, question]) => answerOf(decision.answers[name]!, question))
  const { input_tokens: input, output_tokens: output } = usage
  return JSON.stringify({
    model,
    answers,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  })
}

function answerOf(answer: Answer, { name, values, labels }: Asked) {
  const { evidence } = answer
  switch (answer.type) {
    case 'noul':
      return { type: 'predicate', name, probability: answer.noul, evidence }
    case 'choice': {
      const { choice, probabilities, confidence } = answer
      const listed = keysOf(probabilities).map((option) => {
        return { value: values!.get(option), probability: probabilities[option] }
      })
      return {
        ...{ type: 'choice', name, choice: values!.get(choice), confidence },
        ...{ probabilities: listed, evidence },
      }
    }
    case 'score': {
      const { score, probabilities, confidence } = answer
      const listed = labels!.map((label, value) => {
        return { value, label, probability: probabilities[value] }
      })
      return { type: 'score', name, score, confidence, probabilities: listed, evidence }
    }
  }
}
