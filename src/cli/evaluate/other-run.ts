/**
 * The run that `oi eval` compares with: of a file that another one kept, or of a second model.
 *
 * @module
 */

import { isJsonObject } from '../../api/json.js'
import { readOtherRun } from '../../evaluate/journal.js'
import { Paired } from '../../evaluate/paired.js'
import type { Comparison } from '../../evaluate/report.js'

export interface OtherRun {
  readonly paired: Paired
  readonly about: Pick<Comparison, 'file' | 'models'>
}

/**
 * The run of `--against`.
 *
 * @param digest - Of the labelled file.
 * @throws {@link OiError} `ERR_CONFIG` as {@link readOtherRun}.
 */
export async function keptRun(file: string, digest: string): Promise<OtherRun> {
  const paired = new Paired()
  const facts = await readOtherRun(file, digest, (record) => paired.addOther(record))
  const models = (Array.isArray(facts) ? facts : []).flatMap((card) => {
    const name = isJsonObject(card) ? card['name'] : undefined
    if (typeof name !== 'string') return []
    const { readout } = card as { readout?: unknown }
    return typeof readout === 'string' ? [{ name, readout }] : [{ name }]
  })
  return { paired, about: { file, models } }
}
