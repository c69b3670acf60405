/**
 * Measures candidates in turn, A B A B …, so that each meets the same machine.
 *
 * A disturbed round is discarded and repeated. After the allowed number of discarded rounds,
 * further disturbed rounds are kept and counted.
 *
 * @module
 */

import type { Quiet } from './quiet.js'

export interface Subject {
  readonly name: string
  /** One measurement: figure -> value. Names of figures are unique across all candidates. */
  run(): Promise<Readonly<Record<string, number>>>
}

interface RoundsOptions {
  readonly rounds: number
  /** Rounds that may be discarded. */
  readonly retries: number
  /** Before each round: fresh inputs. */
  readonly prepare?: () => Promise<void>
}

export interface Rounds {
  /** Figure -> one value for each round. */
  readonly values: ReadonlyMap<string, readonly number[]>
  /** Rounds kept although the machine was disturbed. */
  readonly disturbed: number
}

export async function interleave(
  subjects: readonly Subject[],
  { rounds, retries, prepare }: RoundsOptions,
  quiet: Pick<Quiet, 'watch'>,
  say: (line: string) => void,
): Promise<Rounds> {
  const values = new Map<string, number[]>()
  let left = retries
  let disturbed = 0
  for (let round = 1; round <= rounds;) {
    await prepare?.()
    const watch = quiet.watch()
    const results: [string, number][] = []
    for (const subject of subjects) {
      say(`  round ${round} of ${rounds}: ${subject.name}`)
      results.push(...Object.entries(await subject.run()))
    }
    const why = watch.disturbance()
    if (why !== undefined && left > 0) {
      left--
      say(`  round ${round} thrown away: ${why}`)
      continue
    }
    if (why !== undefined) {
      disturbed++
      say(`  round ${round} kept though disturbed: ${why}`)
    }
    for (const [name, value] of results) values.set(name, [...(values.get(name) ?? []), value])
    round++
  }
  return { values, disturbed }
}
