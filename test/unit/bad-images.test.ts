/** Refused images: the place, the rule, and the low cost. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/api/json.js'
import { findImages } from '../../src/images/find-images.js'
import { readImages } from '../../src/images/read-images.js'
import {
  animated,
  blackPng,
  block,
  dataUrl,
  frames,
  plain,
  png,
  quarters,
} from '../helpers/pictures.js'

const small = await png(8, 8)
const noise = quarters(200, 200)
const good = block(small)
const base64 = small.toString('base64')
const withSource = (source: JsonObject): Json => ({ photo: { type: 'image', source } })
const withData = (data: Json) => withSource({ type: 'base64', media_type: 'image/png', data })
const photo = (bytes: Buffer, mediaType = 'image/png') => ({ photo: block(bytes, mediaType) })
const cut = (bytes: Buffer, share: number) => bytes.subarray(0, Math.floor(bytes.length * share))
const twoFrames = await frames(8, 8)

const dataPlace = 'state.photo.source.data'
const whole = /expected a whole and undamaged image$/
const text = /expected base64 text/
const count = /expected at most 67108864 pixels, got /
const fetched = /never fetched$/

type Row = readonly [what: string, state: Json, param: string, says: RegExp]

/** States with a bad file at the same place. */
const files = (says: RegExp, states: Readonly<Record<string, Json>>) =>
  Object.entries(states).map(([what, state]): Row => [what, state, dataPlace, says])

/** States that are wrong in the same way: state and place of each. */
const shapes = (says: RegExp, states: Readonly<Record<string, readonly [Json, string]>>) =>
  Object.entries(states).map(([what, [state, param]]): Row => [what, state, param, says])

const unacceptable: readonly Row[] = [
  ...files(/got 100000 × 100000 = 10000000000$/, {
    'a bomb of which there is only the header': photo(blackPng(100_000, 100_000, false)),
  }),
  ...files(count, {
    'a bomb that is all there': photo(blackPng(20_000, 20_000, true)),
    'a picture one row too high': photo(blackPng(8192, 8193, true)),
  }),
  ...files(/expected at most 65535 pixels a side, got 65536 × 1$/, {
    'a picture of one endless row': photo(blackPng(65_536, 1, true)),
  }),
  ...files(whole, {
    'a truncated PNG': photo(cut(await noise.png().toBuffer(), 0.7)),
    'a PNG without its last bytes of pixels': photo(
      cut(await plain(300, 300).png({ compressionLevel: 0 }).toBuffer(), 0.99),
    ),
    'a truncated JPEG': photo(cut(await noise.jpeg().toBuffer(), 0.7), 'image/jpeg'),
    'a truncated WebP': photo(cut(await noise.webp().toBuffer(), 0.7), 'image/webp'),
    'a truncated GIF': photo(cut(await noise.gif().toBuffer(), 0.7), 'image/gif'),
    'a PNG that ends behind its signature': photo(small.subarray(0, 8)),
    'a PNG with damaged pixels': photo(
      Buffer.from(small.map((byte, i) => (i > 45 && i < 55 ? byte ^ 255 : byte))),
    ),
    'a JPEG of its first bytes': photo(Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'),
  }),
  ...files(/type image\/png, got image\/jpeg$/, {
    'a JPEG called PNG': photo(await noise.jpeg().toBuffer()),
  }),
  ...files(/type image\/webp, got image\/png$/, {
    'a PNG called WebP': photo(small, 'image/webp'),
  }),
  ...files(/got image\/tiff$/, { 'a TIFF called PNG': photo(await noise.tiff().toBuffer()) }),
  ...files(/got image\/svg\+xml$/, {
    'an SVG called PNG': photo(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
  }),
  ...files(/an animation$/, {
    'an animated GIF': photo(await twoFrames.clone().gif().toBuffer(), 'image/gif'),
    'an animated WebP': photo(await twoFrames.clone().webp().toBuffer(), 'image/webp'),
    'an animated PNG': photo(animated(small, 2)),
  }),
  ...files(text, {
    'no data at all': withData(''),
    'base64 with a space': withData(`${base64.slice(0, 8)} ${base64.slice(8)}`),
    'base64 without its padding': withData('iVBORw0KGgo'),
    'base64 with too much padding': withData('iVBORw0KGg==='),
    'padding in the middle': withData(`iVA=${base64}`),
    'bits behind the end': withData('iVBORw0KGgp='),
    'letters that are none of base64': withData(`Ł${base64.slice(1)}`),
    'a data URL where base64 belongs': withData(dataUrl(small)),
  }),
  ...shapes(text, {
    'a data URL with other escapes': [
      { image: { url: dataUrl(small).replace('iV', '%69V') } },
      'state.image.url',
    ],
  }),
  ...shapes(/expected one of image\/png, .*, got "image\/tiff"$/, {
    'another media type': [photo(small, 'image/tiff'), 'state.photo.source.media_type'],
  }),
  ...shapes(/got "url": images are never fetched$/, {
    'an address to be fetched': [
      withSource({ type: 'url', url: 'https://example.com/a.png' }),
      'state.photo.source.type',
    ],
  }),
  ...shapes(fetched, {
    'a remote image_url': [
      [1, 2, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
      'state[2].image_url.url',
    ],
    'a remote image_url in short': [
      { type: 'image_url', image_url: 'http://127.0.0.1/a.png' },
      'state.image_url',
    ],
    'a remote image alone': [{ a: { image: { url: 'file:///etc/passwd' } } }, 'state.a.image.url'],
  }),
  ...Object.entries({
    'data:image/png,abc': /expected a data URL/,
    'data:text/plain;base64,YQ==': /got "text\/plain"$/,
    'data:;base64,YQ==': /got ""$/,
    [dataUrl(small, 'image/jpeg')]: /image\/jpeg, got image\/png$/,
  }).map(([url, says]): Row => {
    return [`the URL ${url.slice(0, 30)}`, { image: { url } }, 'state.image.url', says]
  }),
]

for (const value of [4095, 2 ** 24 + 1, 0, -5000, 5000.5, '5000', true, [], {}, 1e300] as Json[]) {
  const state = { photo: { ...good, max_pixels: value } }
  const rule = /expected an integer from 4096 to 16777216$/
  const row: Row = [`max_pixels ${JSON.stringify(value)}`, state, 'state.photo.max_pixels', rule]
  check(row, 'ERR_REQUEST_UNACCEPTABLE')
}
for (const row of unacceptable) check(row, 'ERR_REQUEST_UNACCEPTABLE')

for (const row of [
  ['no data', withSource({ type: 'base64', media_type: 'image/png' }), dataPlace, text],
  ['data that is a number', withData(7), dataPlace, text],
  ['data that is null', withData(null), dataPlace, text],
  [
    'a source without a type',
    withSource({ data: base64 }),
    'state.photo.source.type',
    /expected "base64"$/,
  ],
  [
    'a source without a media type',
    withSource({ type: 'base64', data: base64 }),
    'state.photo.source.media_type',
    /expected one of/,
  ],
  [
    'an image_url without an address',
    { type: 'image_url', image_url: {} },
    'state.image_url.url',
    /expected a data URL$/,
  ],
] as Row[]) {
  check(row, 'ERR_BODY_INVALID')
}

function check([what, state, param, says]: Row, code: string): void {
  t.test(`${what} is refused, naming the place`, async (t) => {
    const error: unknown = await readImages(findImages({ state }).images).catch((e: unknown) => e)
    t.match(error, { name: 'OiError', code, param, message: says })
    t.ok((error as Error).message.startsWith(`${param}: expected `), (error as Error).message)
  })
}

const listed = (images: unknown) => readImages(findImages({ state: '', images }).images)

t.test('an entry of the list beside the state is named by its index', async (t) => {
  for (const [images, code, param] of [
    [[dataUrl(small), 'https://example.com/a.png'], 'ERR_REQUEST_UNACCEPTABLE', 'images[1]'],
    [[7], 'ERR_BODY_INVALID', 'images[0]'],
    [[{ a: good }], 'ERR_BODY_INVALID', 'images[0]'],
    [[dataUrl(cut(small, 0.5))], 'ERR_REQUEST_UNACCEPTABLE', 'images[0]'],
  ] as const) {
    await t.rejects(listed(images), { code, param })
  }
})

t.test('nine images are too many, wherever they stand', async (t) => {
  const refusal = { code: 'ERR_REQUEST_UNACCEPTABLE', message: /at most 8 images, got 9$/ }
  const nine = new Array<Json>(9).fill(good)
  await t.rejects(readImages(findImages({ state: nine }).images), { ...refusal, param: 'state[8]' })
  const mixed = findImages({ state: nine.slice(0, 8), images: [dataUrl(small)] }).images
  await t.rejects(readImages(mixed), { ...refusal, param: 'state[7]' })
})

t.test('a file has at most 8 MiB, and all of them together 32 MiB', async (t) => {
  const mebibytes = (count: number) => 'AAAA'.repeat((count * 2 ** 20) / 3)
  const blockOf = (data: string): Json => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  })
  await t.rejects(readImages(findImages({ state: [blockOf(`${mebibytes(8)}AAAA`)] }).images), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'state[0].source.data',
    message: /at most 8388608 bytes, got 83886\d\d$/,
  })
  const seven = blockOf(mebibytes(7))
  await t.rejects(readImages(findImages({ state: [seven, seven, seven, seven, seven] }).images), {
    param: 'state[4].source.data',
    message: /at most 33554432 bytes of images together$/,
  })
})

t.test('the error names the first bad image', async (t) => {
  const bomb = block(blackPng(100_000, 100_000, false))
  const state = [good, bomb, block(small, 'image/gif')]
  await t.rejects(readImages(findImages({ state }).images), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'state[1].source.data',
  })
})

t.test('a bomb takes no memory', async (t) => {
  const states = [blackPng(20_000, 20_000, true), blackPng(100_000, 100_000, false)].map(
    (bytes) => findImages({ state: block(bytes) }).images,
  )
  const before = process.resourceUsage().maxRSS
  for (let i = 0; i < 10; i++) {
    for (const found of states) await t.rejects(readImages(found), { message: count })
  }
  const growth = process.resourceUsage().maxRSS - before
  t.ok(growth < 64 * 1024, `${growth} KiB`)
})
