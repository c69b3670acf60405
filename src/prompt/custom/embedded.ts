/**
 * A readout inside a model's own metadata (`oi.readout`): the text of a file as `--readout` takes it.
 *
 * So a model trained on its own prompts brings them along, with labels and temperatures.
 *
 * @module
 */

import type { ModelInfo } from '../../engine/types.js'
import { named } from './faults.js'
import { refusal } from './fields.js'
import { parseReadout } from './parse.js'
import type { CustomReadout } from './types.js'

const embeddedKey = 'oi.readout'

/**
 * @returns Undefined if the model has no readout.
 * @throws {@link OiError} `ERR_READOUT` naming the place in the metadata and what is expected there.
 */
export function embeddedReadout({ metadata }: ModelInfo): CustomReadout | undefined {
  const text = metadata[embeddedKey]
  if (text === undefined) return undefined
  if (/^[a-z]+@\d+$/.test(text)) {
    throw refusal(embeddedKey, `${text} is a readout that this version does not know`)
  }
  try {
    const content = parseReadout(text, () => {
      throw refusal('', 'expected template, as there are no files beside metadata')
    })
    if (content.name === undefined) throw refusal('name', 'expected a name')
    return { ...content, name: content.name, file: embeddedKey }
  } catch (error) {
    throw named(embeddedKey, error)
  }
}
