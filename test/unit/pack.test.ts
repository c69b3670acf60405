/** Requests in the form of the addon. */
import t from 'tap'
import { pack } from '../../src/engine/pack.js'
import type { ImagePixels, ScoreInput } from '../../src/engine/types.js'

const picture = (width: number, height: number): ImagePixels => ({
  rgb: new Uint8Array(3 * width * height).fill(width),
  width,
  height,
})
const user = (text: string) => ({ text, trusted: false })
const template = (text: string) => ({ text, trusted: true })
const image = (pixels: ImagePixels) => ({ text: '', trusted: false, image: pixels })

t.test('texts, kinds and candidates are consecutive, question by question', async (t) => {
  const packed = pack({
    prefix: [template('<|user|>'), user('state')],
    suffixes: [
      { parts: [user('a'), template('b')], candidates: Int32Array.of(7, 8) },
      { parts: [user('c')], candidates: new Int32Array() },
    ],
  })
  t.strictSame(packed, {
    texts: ['<|user|>', 'state', 'a', 'b', 'c'],
    kinds: Uint8Array.of(1, 0, 0, 1, 0),
    shape: Int32Array.of(2, 2, 2, 1, 1, 0, 1),
    candidates: Int32Array.of(7, 8),
    images: [],
    sizes: new Int32Array(),
  })
})

t.test(
  'what is counted in place of a suffix is a question without candidates at the end',
  async (t) => {
    const candidates = Int32Array.of(7)
    const packed = pack({
      prefix: [user('state')],
      suffixes: [
        { parts: [user('a')], candidates, counts: [user('whole'), template('b')] },
        { parts: [user('c')], candidates, counts: [] },
        { parts: [user('d')], candidates },
      ],
    })
    t.strictSame(packed.texts, ['state', 'a', 'c', 'd', 'whole', 'b'])
    t.strictSame(packed.shape, Int32Array.of(1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 2, 0, 1))
  },
)

t.test('an image is a part of kind 2 without a text, with separate pixels and size', async (t) => {
  const [wide, high] = [picture(3, 1), picture(2, 5)]
  const packed = pack({
    prefix: [template('<'), image(wide), user(':'), { ...image(high), trusted: true }],
    suffixes: [{ parts: [user('q')], candidates: Int32Array.of(1) }],
  })
  t.strictSame(packed.texts, ['<', '', ':', '', 'q'])
  t.strictSame(packed.kinds, Uint8Array.of(1, 2, 0, 2, 0))
  t.strictSame(packed.shape, Int32Array.of(4, 1, 1, 1))
  t.equal(packed.images.length, 2)
  t.equal(packed.images[0], wide.rgb, 'not a copy')
  t.equal(packed.images[1], high.rgb)
  t.strictSame(packed.sizes, Int32Array.of(3, 1, 2, 5))
})

for (const [what, prefix, suffix] of [
  ['too few pixels', [image({ ...picture(2, 2), width: 3 })], []],
  ['no pixels', [image(picture(0, 4))], []],
  ['half a pixel', [image({ rgb: new Uint8Array(6), width: 0.5, height: 4 })], []],
  ['pixels of another type', [image({ ...picture(1, 1), rgb: [1, 2, 3] as never })], []],
  ['a text beside a picture', [{ ...image(picture(1, 1)), text: 'cat' }], []],
  ['a picture in a question', [], [image(picture(1, 1))]],
] as const) {
  t.test(`${what}: refused before the addon sees it`, async (t) => {
    const input: ScoreInput = {
      prefix,
      suffixes: [{ parts: suffix, candidates: Int32Array.of(1) }],
    }
    t.throws(() => pack(input), { code: 'ERR_INVALID_ARGUMENT', message: /^image: expected / })
  })
}
