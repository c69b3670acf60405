/**
 * `prefix@1`: an encoder that reads the state once, each question behind it, and each option behind
 * these. README.md describes such a model's file; the engine computes the head.
 *
 * @module
 */

import type { Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart, Suffix } from '../../engine/types.js'
import { instructionText, isBlank } from '../letters.js'
import type { PassFacts } from '../types.js'
import { optionTexts, questionText } from './pass-text.js'
import { type AskedOfStates, inOnePass, StatesReadout } from './states-readout.js'

const control = (text: string): PromptPart => ({ text, trusted: true })
const plain = (text: string): PromptPart => ({ text, trusted: false })
const [begin, end, marker] = ['[CLS]', '[SEP]', '[MASK]'].map(control) as [
  PromptPart,
  PromptPart,
  PromptPart,
]

/** What a question's candidates are: each is the number of its kind. */
const kinds = { noul: 0, choice: 1, score: 2 } as const

export class PrefixReadout extends StatesReadout {
  /** Options do not know each other. */
  readonly ownOrders = true
  readonly pass: PassFacts

  constructor(info: ModelInfo) {
    super(info)
    const levels = info.metadata['oi.prefix.levels'] ?? 'together'
    this.pass = {
      template: '[CLS]{state}[SEP]',
      noul: 'read at the [CLS] of [CLS]{question}[SEP], which sees the state',
      options: `[MASK]{option}[SEP] sees state and question; levels ${levels === 'apart' ? 'do not see' : 'see'} each other`,
    }
  }

  protected override prefix(state: string): PromptPart[] {
    return [begin, plain(state), end]
  }

  protected override ask(question: Question): AskedOfStates {
    const asked = [begin, plain(questionText(question)), end]
    if (question.type === 'noul') {
      const { true: yes = null, false: no = null } = question.criteria ?? {}
      for (const [name, text] of [['yes', yes] as const, ['no', no] as const]) {
        if (!isBlank(text)) asked.push(plain(`${name}: ${instructionText(text)}`), end)
      }
      return inOnePass(asked, 2, kinds.noul)
    }
    const options = optionTexts(question, false)
    for (const text of options) asked.push(marker, plain(text), end)
    return inOnePass(asked, options.length, kinds[question.type])
  }
}

/** A yes or no of any text. */
export function prefixTrial(text: string): Suffix {
  return { parts: [begin, plain(text), end], candidates: Int32Array.of(kinds.noul, kinds.noul) }
}
