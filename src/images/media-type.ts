/**
 * What kind of picture some bytes are, by themselves.
 *
 * @module
 */

export const mediaTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const
export type MediaType = (typeof mediaTypes)[number]

/** The beginning of a file of each type, as Latin-1. */
const beginnings: Readonly<Record<MediaType, RegExp>> = {
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/gif': /^GIF8[79]a/,
}
const longestBeginning = 12

/** The type of a file by its first bytes, or undefined if it is none of {@link mediaTypes}. */
export function sniff(bytes: Buffer): MediaType | undefined {
  const start = bytes.toString('latin1', 0, longestBeginning)
  return mediaTypes.find((type) => beginnings[type].test(start))
}

/**
 * True for a PNG of several frames, of which decoders without animation show the first only.
 *
 * Chunks are a length, a name, so many bytes and a checksum; `acTL` stands before the pixels and
 * begins with the number of frames.
 */
export function isAnimatedPng(bytes: Buffer): boolean {
  let at = 8
  while (at + 12 <= bytes.length) {
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (name === 'acTL') return bytes.readUInt32BE(at + 8) > 1
    if (name === 'IDAT') return false
    at += 12 + bytes.readUInt32BE(at)
  }
  return false
}
