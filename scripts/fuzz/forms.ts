/**
 * Other forms of bodies: compressed, in parts, with pictures; right ones, and ones that lie.
 *
 * @module
 */

import { bombs, compressors } from '../../test/helpers/compressed.js'
import { picturesIn } from '../../test/helpers/picture-forms.js'
import { blackPng } from '../../test/helpers/pictures.js'
import type { Random } from '../../test/helpers/random.js'
import type { Field } from './heads.js'
import { mutateBytes, noise } from './mutate.js'

export interface Body {
  readonly bytes: Buffer
  /** The route that it is meant for. */
  readonly path: string
  /** What the head says about it, instead of what it says else. */
  readonly fields?: readonly Field[]
}

export const routes = {
  single: '/v1/systemone',
  batch: '/v1/systemone/batch',
  decisions: '/v1/decisions',
}

const png = blackPng(16, 16, true)
const { inState, beside } = picturesIn(png)
const questions = { q: { type: 'noul', instructions: 'Is it?' } }
const asset = { type: 'image', format: 'png', part: 'p' }

/** Requests with pictures, by every form, and with assets that are not what they should be. */
export const pictureBodies: readonly Buffer[] = [
  ...Object.values(inState).map(([photo, rest]) => ({ state: { photo }, ...rest })),
  ...Object.values(beside).map((rest) => ({ state: 'x', ...rest })),
  ...[
    { x: asset },
    { y: asset },
    { x: { ...asset, part: 'none' } },
    { '': asset },
    [asset],
    'x',
  ].map((assets) => ({ state: 'See x.', assets })),
  { state: 'x'.repeat(9), assets: { x: asset } },
  { state: 'a.b', assets: { a: asset, 'a.b': asset, '.': asset } },
  { state: 'x', assets: { x: { ...asset, data_base64: '@' } } },
  ...['videos', 'audio', 'files', 'media'].map((name) => ({ state: 'x', [name]: ['data:,'] })),
].map((body) => Buffer.from(JSON.stringify({ questions, ...body })))

const coders = Object.values(compressors)
const otherCodings = ['gzip', 'deflate', 'br', 'zstd', 'x-gzip', 'GZIP', 'identity', 'compress', '']
/** Much more than a body may be. */
const bomb = Object.entries(await bombs(64))

/** The body compressed; damaged, more than one, or called something else, now and then. */
export function compressed(random: Random, { bytes, path, fields = [] }: Body): Body {
  const [coding, compress] = random.pick(coders)
  const named = (name: string, content: Buffer): Body => {
    return { bytes: content, path, fields: [...fields, ['content-encoding', name]] }
  }
  const whole = compress(bytes)
  const share = random.next()
  if (share < 0.4) return named(coding, whole)
  if (share < 0.5) return named(coding, whole.subarray(0, random.integer(whole.length)))
  if (share < 0.6)
    return named(coding, Buffer.concat([whole, noise(random, 1 + random.integer(9))]))
  if (share < 0.8) return named(coding, mutateBytes(whole, random, whole))
  if (share < 0.86) return named(random.pick(otherCodings), whole)
  if (share < 0.9) return named(coding, compress(whole))
  if (share < 0.93) return named(coding, noise(random, random.integer(300)))
  if (share < 0.96) return named(...random.pick(bomb))
  return named(coding, bytes)
}

type Part = readonly [head: string, content: Buffer]

const disposition = 'Content-Disposition: form-data; name='
const typeOfJson = '\r\nContent-Type: application/json'
/** Of parts of JSON, of files, and of neither. */
const jsonHeads = [`${disposition}"request"${typeOfJson}`, `${disposition}"body"`]
const fileHeads = [
  `${disposition}"p"; filename="a.png"\r\nContent-Type: image/png`,
  `${disposition}p; filename*=utf-8''a.png`,
]
const oddHeads = [
  ...['', ':', 'Content-Type: image/png', 'Content-Disposition: attachment; name="p"'],
  ...[`${disposition}""`, `${disposition}"p`, `${disposition}"${'n'.repeat(5000)}"`],
  'x'.repeat(5000),
  ...[`${disposition}"__proto__"; filename="a"`, `${disposition}"%22\\"%0d"; filename="a"`],
  ...['base64', 'quoted-printable', 'BINARY'].map(
    (coding) => `${fileHeads[0]}\r\nContent-Transfer-Encoding: ${coding}`,
  ),
]
const boundaries = ['XyZ', 'a', '-', '--', "'()+_,-./:=?", 'b'.repeat(70), 'c'.repeat(71)]

/** The body as a part beside a picture, or beside what is none. */
export function inParts(random: Random, { bytes, path }: Body): Body {
  const boundary = random.pick(boundaries)
  const picture = (): Part => [
    random.pick(fileHeads),
    random.integer(4) === 0 ? noise(random, 40) : png,
  ]
  const parts: Part[] = [[random.pick(jsonHeads), bytes], picture()]
  for (let left = random.integer(3) === 0 ? 1 + random.integer(3) : 0; left > 0; left--) {
    const odd: Part = [random.pick(oddHeads), random.pick([png, bytes, Buffer.alloc(0)])]
    const [place, count] = [random.integer(parts.length + 1), random.integer(2)]
    parts.splice(place, count, random.pick([odd, picture(), random.pick(parts) ?? odd]))
  }
  if (random.integer(60) === 0) parts.push(...Array<Part>(64).fill(picture()))
  const end = random.integer(10) === 0 ? random.pick(['', '-', 'x', '\r\n']) : '--'
  const written = Buffer.concat([
    ...parts.flatMap(([head, content]) => [
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}${end}\r\n`),
  ])
  const named = random.integer(15) === 0 ? random.pick([...boundaries, '']) : boundary
  const value = random.integer(2) === 0 ? `"${named}"` : named
  return {
    bytes: random.integer(8) === 0 ? mutateBytes(written, random, written) : written,
    path,
    fields: [['content-type', `multipart/form-data; boundary=${value}`]],
  }
}
