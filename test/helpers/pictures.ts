/**
 * Images for tests, good and bad, made on the spot.
 */
import { crc32, deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import type { Json, JsonObject } from '../../src/api/json.js'
import type { ImagePixels } from '../../src/engine/types.js'
import { findImages } from '../../src/images/find-images.js'
import { type HeldImages, readImages } from '../../src/images/read-images.js'

/** An image of one colour; the caller chooses the file's type. */
export const plain = (width: number, height: number, background = '#336699'): Sharp =>
  sharp({ create: { width, height, channels: 3, background } })

export const png = (width: number, height: number, background?: string): Promise<Buffer> =>
  plain(width, height, background).png().toBuffer()

/** Quarters in red, green, blue and white, from left to right and from top to bottom. */
export function quarters(width: number, height: number): Sharp {
  const colours = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 255],
  ] as const
  const rgb = Buffer.alloc(3 * width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const quarter = (2 * y < height ? 0 : 2) + (2 * x < width ? 0 : 1)
      rgb.set(colours[quarter]!, 3 * (y * width + x))
    }
  }
  return sharp(rgb, { raw: { width, height, channels: 3 } })
}

/** Two frames, the second of another colour. */
export async function frames(width: number, height: number): Promise<Sharp> {
  const both = [await png(width, height, 'red'), await png(width, height, 'blue')]
  return sharp(both, { join: { animated: true } })
}

/** The images of a state, and those beside it. */
export async function readState(state: Json, images?: unknown): Promise<HeldImages> {
  const held = await readImages(findImages({ state, images }).images)
  held.release()
  return held
}

/** The image block of the interface. */
export const block = (
  bytes: Buffer,
  mediaType = 'image/png',
  more: JsonObject = {},
): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64') },
  ...more,
})

export const dataUrl = (bytes: Buffer, mediaType = 'image/png'): string =>
  `data:${mediaType};base64,${bytes.toString('base64')}`

/** Red, green and blue of a pixel. */
export function pixel({ rgb, width }: ImagePixels, x: number, y: number): number[] {
  const at = 3 * (y * width + x)
  return [...rgb.subarray(at, at + 3)]
}

/** The pixels at the centres of the four quarters. */
export function middles(image: ImagePixels): number[][] {
  const [x, y] = [image.width >> 2, image.height >> 2]
  return [
    [x, y],
    [image.width - 1 - x, y],
    [x, image.height - 1 - y],
    [image.width - 1 - x, image.height - 1 - y],
  ].map(([column, row]) => pixel(image, column!, row!))
}

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
}

/** A black PNG of one bit per pixel; without `whole`, its header alone. */
export function blackPng(width: number, height: number, whole: boolean): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  const start = [signature, chunk('IHDR', header)]
  if (!whole) return Buffer.concat([...start, chunk('IDAT', deflateSync(Buffer.alloc(9)))])
  const rows = Buffer.alloc(height * (1 + Math.ceil(width / 8)))
  const pixels = chunk('IDAT', deflateSync(rows, { level: 1 }))
  return Buffer.concat([...start, pixels, chunk('IEND', Buffer.alloc(0))])
}

/** The PNG with a mark that claims this many frames. */
export function animated(bytes: Buffer, count: number): Buffer {
  const control = Buffer.alloc(8)
  control.writeUInt32BE(count, 0)
  const afterHeader = signature.length + 25
  return Buffer.concat([
    bytes.subarray(0, afterHeader),
    chunk('acTL', control),
    bytes.subarray(afterHeader),
  ])
}
