/** Accepted images, from the request to pixels. */
import t, { type Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sharp } from 'sharp'
import type { Json, JsonObject } from '../../src/api/json.js'
import { parseJson } from '../../src/api/json.js'
import type { ImagePixels } from '../../src/engine/types.js'
import { findImages } from '../../src/images/find-images.js'
import { scaled } from '../../src/images/decode.js'
import { readImages } from '../../src/images/read-images.js'
import {
  block,
  dataUrl,
  middles,
  pixel,
  plain,
  png,
  quarters,
  readState,
} from '../helpers/pictures.js'

const most = 2 ** 24

/** The image of a state that is one. */
async function decoded(bytes: Buffer, mediaType: string, more?: JsonObject): Promise<ImagePixels> {
  const { inState } = await readState(block(bytes, mediaType, more))
  return [...inState.values()][0]!
}

function near(t: Test, actual: readonly number[], expected: readonly number[], what: string) {
  const close = actual.every((value, i) => Math.abs(value - expected[i]!) <= 12)
  t.ok(
    close && actual.length === expected.length,
    `${what}: ${actual.join()} for ${expected.join()}`,
  )
}

t.test('base64 is read in the forms of mail, of URLs and of pydantic', async (t) => {
  const bytes = await quarters(31, 17).jpeg().toBuffer()
  const base64 = bytes.toString('base64')
  t.match(base64, /\+.*\/|\/.*\+/, 'both letters are in it')
  const broken = (by: string) => base64.replaceAll(/(.{76})/g, `$1${by}`)
  const url = (data: string, head = 'data:image/jpeg;base64') => `${head},${data}`
  const listed = [
    base64,
    ...['\n', '\r\n', '\r'].map(broken),
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    url(encodeURIComponent(base64)),
    url(encodeURIComponent(broken('\r\n'))),
    url(base64, 'data:image/jpeg;charset=utf-8; base64'),
  ]
  for (const image of listed) {
    const { before } = await readState({}, [image])
    t.strictSame([before[0]!.width, before[0]!.height], [31, 17], image.slice(0, 90))
  }
})

const kinds: readonly (readonly [string, string, (picture: Sharp) => Sharp])[] = [
  ['a PNG', 'image/png', (picture) => picture.png()],
  ['an interlaced PNG', 'image/png', (picture) => picture.png({ progressive: true })],
  ['a PNG of 16 bits', 'image/png', (picture) => picture.toColourspace('rgb16').png()],
  ['a PNG with a palette', 'image/png', (picture) => picture.png({ palette: true })],
  ['a JPEG', 'image/jpeg', (picture) => picture.jpeg({ quality: 95 })],
  [
    'a progressive JPEG',
    'image/jpeg',
    (picture) => picture.jpeg({ quality: 95, progressive: true }),
  ],
  ['a WebP', 'image/webp', (picture) => picture.webp({ lossless: true })],
  ['a lossy WebP', 'image/webp', (picture) => picture.webp({ quality: 95 })],
  ['a GIF', 'image/gif', (picture) => picture.gif()],
  ['a media type in capitals', 'IMAGE/PNG', (picture) => picture.png()],
]
for (const [what, mediaType, encode] of kinds) {
  t.test(`${what} is decoded to RGB of 8 bits`, async (t) => {
    const image = await decoded(await encode(quarters(64, 48)).toBuffer(), mediaType)
    t.strictSame([image.width, image.height, image.rgb.length], [64, 48, 3 * 64 * 48])
    const colours = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 255],
    ]
    middles(image).forEach((colour, i) => near(t, colour, colours[i]!, `quarter ${i}`))
  })
}

t.test('a JPEG in CMYK has about its colours', async (t) => {
  const bytes = await quarters(64, 48).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer()
  const [red, , , white] = middles(await decoded(bytes, 'image/jpeg'))
  t.ok(red![0]! > 180 && red![1]! < 80 && red![2]! < 80, `red: ${red!.join()}`)
  near(t, white!, [255, 255, 255], 'white')
})

t.test('grey is the same in all three channels', async (t) => {
  for (const picture of [
    plain(5, 5, '#808080').toColourspace('b-w').png(),
    plain(5, 5, '#808080').toColourspace('b-w').jpeg(),
    plain(5, 5, '#808080').ensureAlpha().toColourspace('b-w').png(),
  ]) {
    const bytes = await picture.toBuffer()
    const image = await decoded(bytes, bytes[0] === 0xff ? 'image/jpeg' : 'image/png')
    near(t, pixel(image, 2, 2), [128, 128, 128], 'grey')
    t.equal(image.rgb.length, 75)
  }
})

t.test('transparency is laid on white', async (t) => {
  for (const [alpha, expected] of [
    [0, [255, 255, 255]],
    [0.5, [255, 127, 127]],
    [1, [255, 0, 0]],
  ] as const) {
    const bytes = await plain(4, 4, 'red').removeAlpha().ensureAlpha(alpha).png().toBuffer()
    near(t, pixel(await decoded(bytes, 'image/png'), 1, 1), expected, `alpha ${alpha}`)
  }
})

t.test('an image is rotated by its EXIF orientation', async (t) => {
  const [r, g, b, w] = ['red', 'green', 'blue', 'white']
  const seen: Record<number, readonly (string | undefined)[]> = {
    1: [r, g, b, w],
    2: [g, r, w, b],
    3: [w, b, g, r],
    4: [b, w, r, g],
    5: [r, b, g, w],
    6: [b, r, w, g],
    7: [w, g, b, r],
    8: [g, w, r, b],
  }
  const nameOf = (colour: readonly number[]) =>
    colour.every((value) => value > 200) ? w : [r, g, b][colour.indexOf(Math.max(...colour))]
  for (const [orientation, expected] of Object.entries(seen)) {
    const turned = Number(orientation) > 4
    const bytes = await quarters(80, 48)
      .jpeg({ quality: 95 })
      .withMetadata({ orientation: Number(orientation) })
      .toBuffer()
    const image = await decoded(bytes, 'image/jpeg')
    t.strictSame([image.width, image.height], turned ? [48, 80] : [80, 48], orientation)
    t.strictSame(middles(image).map(nameOf), expected, orientation)

    const small = await decoded(
      await quarters(800, 480)
        .jpeg()
        .withMetadata({ orientation: Number(orientation) })
        .toBuffer(),
      'image/jpeg',
      { max_pixels: 4096 },
    )
    t.strictSame(middles(small).map(nameOf), expected, `${orientation}, scaled`)
    t.equal(small.height > small.width, turned)
  }
})

t.test('a larger image is scaled down to its max_pixels, with its aspect ratio', async (t) => {
  const bytes = await png(2400, 1200)
  for (const [more, limit] of [
    [{}, 2 ** 20],
    [{ max_pixels: null }, 2 ** 20],
    [{ max_pixels: 4096 }, 4096],
    [{ max_pixels: 100_000 }, 100_000],
  ] as const) {
    const { width, height } = await decoded(bytes, 'image/png', more)
    t.ok(width * height <= limit && width * height > 0.95 * limit, `${width} × ${height}`)
    t.ok(Math.abs(width - 2 * height) <= 2, `${width} × ${height}`)
  }
  for (const max_pixels of [2400 * 1200, most]) {
    t.match(await decoded(bytes, 'image/png', { max_pixels }), { width: 2400, height: 1200 })
  }
  t.match(await decoded(await png(3, 2), 'image/png'), { width: 3, height: 2 }, 'none is enlarged')
})

t.test('max_pixels works in every form with a place for it, however it is written', async (t) => {
  const url = dataUrl(await png(100, 100))
  for (const state of [
    { type: 'image_url', image_url: { url }, max_pixels: 4096 },
    { type: 'image_url', image_url: url, max_pixels: 4096 },
    { image: { url, max_pixels: 4096 } },
    parseJson(`{"image":{"url":"${url}","max_pixels":4096.0}}`),
  ] as Json[]) {
    const { inState } = await readState(state)
    t.match([...inState.values()], [{ width: 64, height: 64 }])
  }
})

t.test('an image keeps at least one pixel on each side', async (t) => {
  for (const [width, height] of [
    [1, 1],
    [1, 10_000],
    [10_000, 1],
    [2, 60_000],
    [60_000, 3],
  ] as const) {
    const image = await decoded(await png(width, height), 'image/png', { max_pixels: 4096 })
    t.ok(image.width >= 1 && image.height >= 1 && image.width * image.height <= 4096)
    t.equal(image.rgb.length, 3 * image.width * image.height)
  }
  for (const [width, height] of [
    [1, 2 ** 26],
    [2 ** 26, 1],
    [8192, 8192],
    [65, 64],
  ] as const) {
    for (const limit of [4096, 4097, 2 ** 20, most]) {
      const size = scaled({ width, height }, limit)
      t.ok(size.width >= 1 && size.height >= 1 && size.width * size.height <= limit)
    }
  }
})

t.test("a request waits while other requests' images take all of the memory", async (t) => {
  const state = block(await png(2, 2), 'image/png', { max_pixels: most })
  const start = () => readImages(findImages({ state }).images)
  // Ten times 48 MiB of 512.
  const held = await Promise.all(Array.from({ length: 10 }, start))
  let done = false
  const last = start().then((images) => {
    done = true
    return images
  })
  const leaving = new AbortController()
  const another = readImages(findImages({ state }).images, leaving.signal)
  leaving.abort()
  await t.rejects(another, { code: 'ERR_ABORTED' }, 'waiting ends with the request')
  await sleep(50)
  t.notOk(done)
  held[0]!.release()
  held[0]!.release()
  const images = await last
  t.ok(done)
  for (const each of [...held, images]) each.release()
})

t.test('refused images leave no memory taken', async (t) => {
  const good = block(await png(2, 2), 'image/png', { max_pixels: most })
  const bad = block(Buffer.from('GIF89a'), 'image/gif', { max_pixels: most })
  for (let i = 0; i < 12; i++) await t.rejects(readState([bad, good]))
  t.equal(
    (await readState(new Array<Json>(8).fill(good))).inState.size,
    1,
    'one object, one picture',
  )
})

t.test('a cancelled request is not decoded', async (t) => {
  const found = findImages({ state: block(await png(2, 2)) }).images
  await t.rejects(readImages(found, AbortSignal.abort()), { code: 'ERR_ABORTED' })
})
