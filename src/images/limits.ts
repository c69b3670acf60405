/**
 * What is accepted as the images of one request.
 *
 * @module
 */

export const imageLimits = {
  maxImages: 8,
  /** Bytes of one image file. */
  maxBytes: 8 * 2 ** 20,
  /** Bytes of all image files of a request. */
  maxTotalBytes: 32 * 2 ** 20,
  /** Pixels of a picture before it is scaled; more than any camera of a phone takes. */
  maxSourcePixels: 2 ** 26,
  /** Of its width and its height. Of the four types, only PNG could have more. */
  maxSide: 65_535,
  /** Bounds and default of `max_pixels`: pixels of a picture behind scaling. */
  leastMaxPixels: 4096,
  mostMaxPixels: 2 ** 24,
  standardMaxPixels: 2 ** 20,
} as const
