/**
 * How large a request may be, where no setting says it.
 *
 * @module
 */

import type { Config, ModelConfig } from '../config.js'

const textBytes = 4 * 2 ** 20
/** 32 MiB of image files, which base64 makes a third longer, and room for the rest. */
const imageBytes = 64 * 2 ** 20

/** Bytes of a body at most. Known before any model is loaded: a projector was named or not. */
export function bodyLimit(
  { maxBodyBytes }: Pick<Config, 'maxBodyBytes'>,
  models: readonly Pick<ModelConfig, 'mmproj'>[],
): number {
  if (maxBodyBytes > 0) return maxBodyBytes
  return models.some(({ mmproj }) => mmproj !== '') ? imageBytes : textBytes
}
