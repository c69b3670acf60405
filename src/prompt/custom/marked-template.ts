/**
 * Templates of a user's own, rendered when they are loaded, with marks in the places of texts.
 *
 * Rules
 *   1. What a caller sends never passes through a template: it takes the place of a mark when
 *      the template is finished. So no text can change what a template does, a template cannot
 *      fail on a request, and a request costs no more than joining texts.
 *   2. A template may only ask whether a text is there. It is rendered once for each combination
 *      of texts that may be missing, and so checked for all requests there can be.
 *   3. Every text that is given is shown exactly once: nothing of a request is left out.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { compileJinja } from '../jinja.js'
import { requireVariables } from './variables.js'

/** What a template can name. */
export interface Slots {
  /** Texts that are always given. */
  readonly texts: readonly string[]
  /** Texts that may be missing: empty then. Few: each of them, and each flag, doubles the work. */
  readonly optional?: readonly string[]
  /** True or false. */
  readonly flags?: readonly string[]
  /** Short texts of our own, as a number, which may be shown any number of times. */
  readonly facts?: readonly string[]
  /** Values that are known already. */
  readonly constants?: Readonly<Record<string, string>>
  /** What to say, besides, to one who tries to read such a text. */
  readonly hints?: Readonly<Record<string, string>>
}

/** What a template became: literals around slots, one literal more than there are slots. */
export interface Cut {
  readonly literals: readonly string[]
  readonly slots: readonly string[]
}

export class MarkedTemplate {
  /** By which of the optional texts and flags are there: bit i is the i-th. */
  readonly cuts: readonly Cut[]
  readonly #switches: readonly string[]

  /** @throws {@link OiError} `ERR_READOUT` as the rules say, and with the line of bad syntax. */
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
    // The one with everything first: its faults are said most plainly.
    for (let bits = this.cuts.length - 1; bits >= 0; bits--) {
      const missing = optional.filter((_, i) => (bits & (1 << i)) === 0)
      const given = [...texts, ...optional].filter((name) => !missing.includes(name))
      requireOnce(this.cuts[bits]!, given, missing)
    }
  }

  /** @param values - Of every slot; `''` is missing, and so is a flag that is `false`. */
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
  // A pattern with a group leaves what it found between the pieces.
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
