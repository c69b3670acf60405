/**
 * Limits on the images of one request.
 *
 * @module
 */

export const imageLimits = {
  maxImages: 8,
  /** Bytes of one image file. */
  maxBytes: 8 * 2 ** 20,
  /** Bytes of all image files of a request. */
  maxTotalBytes: 32 * 2 ** 20,
  /** Pixels of an image before scaling; more than any phone camera takes. */
  maxSourcePixels: 2 ** 26,
  /** Of width and height. Of the four types, only PNG could have more. */
  maxSide: 65_535,
  /** Bounds and default of `max_pixels`: pixels of an image after scaling. */
  leastMaxPixels: 4096,
  mostMaxPixels: 2 ** 24,
  standardMaxPixels: 2 ** 20,
} as const
