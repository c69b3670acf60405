/**
 * A user's own templates, rendered when they are loaded, with marks in the places of texts.
 *
 * Rules
 *   1. A caller's text never passes through a template: it replaces a mark after rendering. So no
 *      text can change what a template does, a template cannot fail on a request, and a request
 *      costs no more than joining texts.
 *   2. A template may only test whether a text is given. It is rendered once for each combination
 *      of optional texts, and so checked for all possible requests.
 *   3. Every given text is shown exactly once: no part of a request is left out.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { compileJinja } from '../jinja.js'
import { requireVariables } from './variables.js'

/** The variables of a template. */
export interface Slots {
  /** Texts that are always given. */
  readonly texts: readonly string[]
  /**
   * Texts that may be missing, and are empty then. Few: each of them, and each flag, doubles the
   * work.
   */
  readonly optional?: readonly string[]
  /** True or false. */
  readonly flags?: readonly string[]
  /** Short texts of our own, such as numbers, which may be shown any number of times. */
  readonly facts?: readonly string[]
  /** Values that are known already. */
  readonly constants?: Readonly<Record<string, string>>
  /** Hints for the error when a template tries to read a text. */
  readonly hints?: Readonly<Record<string, string>>
}

/** A rendered template: literals around slots, one literal more than slots. */
export interface Cut {
  readonly literals: readonly string[]
  readonly slots: readonly string[]
}

export class MarkedTemplate {
  /** Indexed by the given optional texts and flags: bit i is the i-th. */
  readonly cuts: readonly Cut[]
  readonly #switches: readonly string[]

  /**
   * @throws {@link OiError} `ERR_READOUT` if a rule is broken, or for bad syntax, with its line.
   */
  constructor(source: string, slots: Slots) {
    const { texts, optional = [], flags = [], facts = [], constants = {}, hints } = slots
    const marked = [...texts, ...optional, ...facts]
    const template = compileJinja(source)
    const known = [...marked, ...flags, ...Object.keys(constants)]
    requireVariables(template.parsed, known, marked, hints)

    this.#switches = [...optional, ...flags]
    this.cuts = Array.from({ length: 1 << this.#switches.length }, (_, bits) => {
      const isOn = (name: string) => (bits & (1 << this.#switches.indexOf(name))) !== 0
      const given = [...texts, ...optional.filter(isOn)]
      const variables: Record<string, unknown> = { ...constants }
      for (const name of optional) variables[name] = ''
      for (const name of flags) variables[name] = isOn(name)
      for (const name of [...given, ...facts]) variables[name] = markOf(marked.indexOf(name))
      return cutAt(render(template, variables), marked)
    })
    // The combination with everything first: its errors are the clearest.
    for (let bits = this.cuts.length - 1; bits >= 0; bits--) {
      const missing = optional.filter((_, i) => (bits & (1 << i)) === 0)
      const given = [...texts, ...optional].filter((name) => !missing.includes(name))
      requireOnce(this.cuts[bits]!, given, missing)
    }
  }

  /** @param values - For every slot; `''` is a missing text, `false` a missing flag. */
  fill(values: Readonly<Record<string, string | boolean>>): string {
    let bits = 0
    for (let i = 0; i < this.#switches.length; i++) {
      if (values[this.#switches[i]!]) bits |= 1 << i
    }
    const { literals, slots } = this.cuts[bits]!
    let text = literals[0]!
    for (let i = 0; i < slots.length; i++) text += String(values[slots[i]!]) + literals[i + 1]!
    return text
  }
}

function render(template: ReturnType<typeof compileJinja>, variables: Record<string, unknown>) {
  try {
    return template.render(variables)
  } catch (cause) {
    throw new OiError('ERR_READOUT', (cause as Error).message, { cause })
  }
}

// Letters and digits only: nothing trims, escapes or splits them.
const markOf = (index: number) => `oiMark${index}x9c41e7`
const mark = /oiMark(\d+)x9c41e7/

function cutAt(text: string, marked: readonly string[]): Cut {
  // Splitting by a pattern with a group keeps the matches between the pieces.
  const pieces = text.split(mark)
  return {
    literals: pieces.filter((_, i) => i % 2 === 0),
    slots: pieces.filter((_, i) => i % 2 === 1).map((index) => marked[Number(index)]!),
  }
}

function requireOnce({ slots }: Cut, given: readonly string[], missing: readonly string[]): void {
  for (const name of given) {
    const count = slots.filter((slot) => slot === name).length
    if (count === 1) continue
    const where = missing.length === 0 ? '' : `, where there is no ${missing.join(' and no ')}`
    throw new OiError('ERR_READOUT', `expected {{ ${name} }} once, got it ${count} times${where}`)
  }
}
