/**
 * Images as blocks of a state.
 *
 * @module
 */

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

/** May stand anywhere in a state. */
export interface ImageBlock {
  readonly type: 'image'
  readonly source: {
    readonly type: 'base64'
    readonly media_type: string
    readonly data: string
  }
  readonly max_pixels?: number
}

export interface ImageOptions {
  /** The server scales a larger image down to this many pixels: 4,096 to 16,777,216. */
  readonly maxPixels?: number | undefined
}

/** A multiple of three, so that base64 pieces can be joined, and few enough to be arguments. */
const pieceBytes = 24_576

/**
 * An image for a state: `{ photo: image(bytes, 'image/png') }`.
 *
 * @param content - The file's bytes, or its base64.
 */
export function image(
  content: Uint8Array | ArrayBuffer | string,
  mediaType: ImageMediaType,
  { maxPixels }: ImageOptions = {},
): ImageBlock {
  return block(typeof content === 'string' ? content : base64Of(content), mediaType, maxPixels)
}

/** The same from a `Blob` or `File`, with its own type. */
export async function imageFromBlob(
  blob: Blob,
  { maxPixels }: ImageOptions = {},
): Promise<ImageBlock> {
  return block(base64Of(await blob.arrayBuffer()), blob.type, maxPixels)
}

function block(data: string, mediaType: string, maxPixels: number | undefined): ImageBlock {
  return {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data },
    ...(maxPixels !== undefined && { max_pixels: maxPixels }),
  }
}

function base64Of(content: Uint8Array | ArrayBuffer): string {
  const bytes = content instanceof Uint8Array ? content : new Uint8Array(content)
  let text = ''
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + pieceBytes)))
  }
  return text
}
