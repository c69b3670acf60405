/**
 * JPEGs as phones and programs write them and browsers show them: each decodes like the plain one.
 * And files from phones that are not JPEG, which are refused by name.
 */
import t from 'tap'
import { block, middles, quarters, readState } from '../helpers/pictures.js'

const jpeg = (options = {}) =>
  quarters(64, 48)
    .jpeg({ quality: 95, chromaSubsampling: '4:4:4', ...options })
    .toBuffer()
const plain = await jpeg()

async function decoded(bytes: Buffer, mediaType = 'image/jpeg') {
  const { inState } = await readState([block(bytes, mediaType)])
  return [...inState.values()][0]!
}

/** A segment after the start of the image. */
function withSegment(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([plain.subarray(0, 2), head, content, plain.subarray(2)])
}

/** Where a marker stands. */
const at = (marker: number) => plain.indexOf(Buffer.from([0xff, marker]))

const mpf = Buffer.from(
  '4d5046004d4d002a00000008' + '0001b001000400000001' + '00000002' + '00000000',
  'hex',
)
const gainMap = await quarters(16, 12).greyscale().jpeg().toBuffer()

for (const [what, bytes] of [
  ['progressive', await jpeg({ progressive: true })],
  ['of half the colours', await jpeg({ chromaSubsampling: '4:2:0' })],
  ['with a gain map behind it', Buffer.concat([withSegment(0xe2, mpf), gainMap])],
  ['with a video behind it', Buffer.concat([plain, Buffer.from('\0\0\0\x18ftypmp42'), mpf])],
  ['with zeros behind it', Buffer.concat([plain, Buffer.alloc(5000)])],
  ['with two ends', Buffer.concat([plain, Buffer.from([0xff, 0xd9])])],
  [
    'with bytes of filling before a marker',
    Buffer.concat([
      plain.subarray(0, at(0xdb)),
      Buffer.from([0xff, 0xff, 0xff]),
      plain.subarray(at(0xdb)),
    ]),
  ],
  ['with a long comment', withSegment(0xfe, Buffer.alloc(65_000, 'x'))],
  ['with a profile that is none', withSegment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01garbage'))],
  ['with EXIF that is none', withSegment(0xe1, Buffer.from('Exif\0\0MM\0*garbage'))],
] as const) {
  t.test(`a JPEG ${what} decodes like the plain one`, async (t) => {
    const [one, other] = [await decoded(plain), await decoded(bytes)]
    t.strictSame([other.width, other.height], [64, 48])
    for (const [i, pixel] of middles(other).entries()) {
      for (const [channel, value] of pixel.entries()) {
        t.ok(Math.abs(value - middles(one)[i]![channel]!) <= 8, `${pixel.join()} in quarter ${i}`)
      }
    }
  })
}

for (const [brand, name] of [
  ['heic', 'image/heic'],
  ['mif1', 'image/heic'],
  ['avif', 'image/avif'],
  ['avis', 'image/avif'],
] as const) {
  t.test(`a file of the brand ${brand} is refused as ${name}`, async (t) => {
    const file = Buffer.concat([Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`), Buffer.alloc(100)])
    await t.rejects(decoded(file), {
      code: 'ERR_REQUEST_UNACCEPTABLE',
      message: `state[0].source.data: expected an image of the type image/jpeg, got ${name}`,
    })
    await t.rejects(decoded(file, name), { message: new RegExp(`got "${name}"`) })
  })
}
