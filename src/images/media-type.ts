/**
 * The type of an image, by its bytes.
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
const longestBeginning = 64

/** Other types that clients send, by their beginnings: refused by their names. */
const otherBeginnings: Readonly<Record<string, RegExp>> = {
  // The brands of a file of this family, the major one first.
  'image/avif': /^[^]{4}ftyp(?:avi[fs]|(?:[^]{4}){1,12}?avi[fs])/,
  'image/heic': /^[^]{4}ftyp(?:hei[cxms]|hev[cx]|(?:[^]{4}){1,12}?hei[cx]|mif1|msf1)/,
  'image/jxl': /^(?:\xff\n|\0\0\0\fJXL )/,
  'image/tiff': /^(?:II\*\0|MM\0\*)/,
  'image/bmp': /^BM[^]{4}\0\0\0\0/,
  'image/x-icon': /^\0\0\x01\0/,
  'image/svg+xml': /^(?:\xef\xbb\xbf)?\s*<(?:svg|\?xml)/,
  'application/pdf': /^%PDF-/,
  'video/mp4': /^[^]{4}ftyp/,
}

/** The type of a file by its first bytes, or undefined if it is none of {@link mediaTypes}. */
export function sniff(bytes: Buffer): MediaType | undefined {
  const start = bytes.toString('latin1', 0, longestBeginning)
  return mediaTypes.find((type) => beginnings[type].test(start))
}

/** The name of another type; undefined if unknown. */
export function otherType(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, longestBeginning)
  return Object.keys(otherBeginnings).find((type) => otherBeginnings[type]!.test(start))
}

/**
 * True for a PNG with several frames, of which decoders without animation show only the first.
 *
 * Chunks are a length, a name, that many bytes and a checksum; `acTL` stands before the pixel data
 * and begins with the number of frames.
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
