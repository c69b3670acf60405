/**
 * Request bodies as texts, so that a mistake in one stays visible.
 */

export const noul = '{"type":"noul","instructions":"Is it?"}'
/** A body with these questions. */
export const asking = (questions: string, rest = '"state":"s"') =>
  `{${rest},"questions":${questions}}`
/** A body with this one question, named q. */
export const one = (question: string) => asking(`{"q":${question}}`)
export const choice = (criteria: string) => one(`{"type":"choice","criteria":${criteria}}`)
export const score = (criteria: string) => one(`{"type":"score","criteria":${criteria}}`)
export const withState = (state: string) => asking(`{"q":${noul}}`, `"state":${state}`)
export const withModel = (model: string) => asking(`{"q":${noul}}`, `"state":"s","model":${model}`)
export const good = withState('"It rains."')
/** A batch of these bodies. */
export const requests = (items: readonly string[], rest = '') =>
  `{"requests":[${items.join()}]${rest}}`
/** A batch of these states, with one question. */
export const states = (items: readonly string[], name = 'q') =>
  `{"states":[${items.join()}],"questions":{"${name}":${noul}}}`
/** The same again and again. */
export const many = (count: number, item: string) => Array<string>(count).fill(item)

export const arrays = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth)
export const objects = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
/** An object with this many names, in falling order: `{"2":null,"1":null}`. */
export const names = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, i) => `"${count - i}":${value}`).join()}}`
export const levels = (count: number) => `[${Array.from({ length: count }, (_, i) => i).join()}]`
