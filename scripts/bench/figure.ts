/**
 * A result: a name, a unit, one value per round, and its goal.
 *
 * @module
 */

import type { Rounds } from './rounds.js'
import { median, quotients } from './stats.js'

export interface Goal {
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Figure {
  readonly layer: string
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
  /** Rounds in which the machine was disturbed. */
  readonly disturbed: number
  readonly goal?: Goal
}

/** Makes the figures of one series of rounds. */
export class Figures {
  readonly all: Figure[] = []
  readonly #layer: string
  readonly #rounds: Rounds

  constructor(layer: string, rounds: Rounds) {
    this.#layer = layer
    this.#rounds = rounds
  }

  values(name: string): readonly number[] {
    const values = this.#rounds.values.get(name)
    if (values === undefined) throw new Error(`nothing measured "${name}"`)
    return values
  }

  add(name: string, unit: string, goal?: Goal): void {
    this.addValues(name, unit, this.values(name), goal)
  }

  /** One figure divided by another, round by round. */
  addRatio(name: string, of: string, by: string, goal?: Goal): void {
    this.addValues(name, '×', quotients(this.values(of), this.values(by)), goal)
  }

  /** The figure with the largest median. */
  best(names: readonly string[]): string {
    return names.toSorted((a, b) => median(this.values(b)) - median(this.values(a)))[0]!
  }

  /** A figure computed from others. */
  addValues(name: string, unit: string, values: readonly number[], goal?: Goal): void {
    const { disturbed } = this.#rounds
    this.all.push({ layer: this.#layer, name, unit, values, disturbed, ...(goal && { goal }) })
  }
}

export function isReached({ goal, values }: Figure): boolean | undefined {
  if (goal === undefined) return undefined
  const value = median(values)
  return value >= (goal.atLeast ?? -Infinity) && value <= (goal.atMost ?? Infinity)
}

export function goalText({ goal }: Figure): string {
  if (goal?.atLeast !== undefined) return `≥ ${goal.atLeast.toLocaleString('en')}`
  return goal?.atMost === undefined ? '' : `≤ ${goal.atMost.toLocaleString('en')}`
}
