/**
 * Picture files of `oi ask`, as requests carry them.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { mediaTypes, sniff } from '../images/media-type.js'
import { readBytes } from './read-text.js'

/**
 * A picture as a data URL.
 *
 * @throws {@link OiError} `ERR_CONFIG` if the file cannot be read, or is none of the types that
 *   requests may hold.
 */
export function imageUrl(path: string): string {
  const bytes = readBytes('--image', path)
  const type = sniff(bytes)
  if (type === undefined) {
    throw new OiError('ERR_CONFIG', `--image ${path}: expected one of ${mediaTypes.join(', ')}`)
  }
  return `data:${type};base64,${bytes.toString('base64')}`
}
