/** Decision models without a model: the fake engine with their metadata. */
import type { DecideRequest, Question } from '../../src/decide/types.js'
import type { PromptPart } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine, type FakeEngineOptions } from './fake-engine.js'

export const head = '<|start|>system\nDecide.<|end|>\n<|start|>user\n'
export const tail = "<|end|>{{ '\n' }}<|start|>assistant{{ '\n' }}"
export const renderedTail = '<|end|>\n<|start|>assistant\n'
export const source =
  `${head}State:\n{{ state }}\n\nAsked:\n{{ instructions }}` +
  "{% for o in options %}{{ '\n' ~ o.label ~ ': ' ~ o.key }}" +
  '{% if o.description %}{{ " - " ~ o.description }}{% endif %}{% endfor %}' +
  `{{ '\n' }}Code?${tail}`

export interface Native extends Omit<FakeEngineOptions, 'info'> {
  readonly template?: string
  readonly temperatures?: Readonly<Record<string, string>>
}

export function engineOf(
  type: string,
  { template = source, temperatures = {}, ...rest }: Native = {},
) {
  const entries = Object.entries(temperatures).map(([name, value]) => [
    `fake.decision.temperature.${name}`,
    value,
  ])
  return createFakeEngine({
    ...rest,
    info: {
      metadata: { 'fake.decision.type': type, ...Object.fromEntries(entries) },
      chatTemplates: template === '' ? {} : { systemone: template },
    },
  })
}

export const readoutOf = (type: string, options?: Native) => createReadout(engineOf(type, options))
export const ask = (question: Question, state: DecideRequest['state'] = 'S'): DecideRequest => ({
  state,
  questions: { 'the name': question },
})
export const textOf = (parts: readonly PromptPart[]) => parts.map(({ text }) => text).join('')
export const tokenOf = async (text: string) =>
  (await createFakeEngine().tokenize([{ text, trusted: false }]))[0]![0]!
export const tokensOf = async (texts: readonly string[]) => Promise.all(texts.map(tokenOf))
export const choiceOf = (count: number): Question => ({
  type: 'choice',
  criteria: Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${i}`, null])),
})
