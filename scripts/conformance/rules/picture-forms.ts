/**
 * Section decisions/Images: images in the forms of clients, in JSON and in parts.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import { compressors } from '../../../test/helpers/compressed.js'
import { picturesIn } from '../../../test/helpers/picture-forms.js'
import { noul } from '../../../test/helpers/request-text.js'
import { bodyOf, type Context, decidePath, refusalOf } from '../context.js'
import { check, each, equal, whole } from '../expect.js'
import type { Headers, Reply } from '../client.js'
import { section } from '../rule.js'
import { modelThat, picture } from './images.js'

const png = await picture('png')
const { inState, beside } = picturesIn(png)
const questions = { q: JSON.parse(noul) as object }
const asset = { type: 'image', format: 'png', data_base64: png.toString('base64') }

/** Asks about it; an image in a part is sent as multipart. */
async function ask(context: Context, model: string, body: object): Promise<Reply> {
  const text = JSON.stringify({ questions, model, ...body })
  return text.includes('"part":"p"')
    ? sendParts(context, [json(text), file('p')])
    : context.post(text)
}

type Part = readonly [head: string, content: string | Uint8Array]

const json = (text: string): Part => [
  'Content-Disposition: form-data; name="request"\r\nContent-Type: application/json',
  text,
]
const file = (name: string, content: Uint8Array = png): Part => [
  `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png`,
  content,
]

function sendParts(
  context: Context,
  parts: readonly Part[],
  end = '--',
  coded?: (typeof compressors)[keyof typeof compressors],
): Promise<Reply> {
  const boundary = 'oi-conformance'
  const body = Buffer.concat([
    ...parts.flatMap(([head, content]) => [
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}${end}\r\n`),
  ])
  const headers: Headers = {
    ...context.bearer,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    ...(coded && { 'content-encoding': coded[0] }),
  }
  return context.client.send({ path: decidePath, headers, body: coded ? coded[1](body) : body })
}

/** Requires each body to have the same image and the same answer as the first of them. */
async function requireSame(context: Context, bodies: Readonly<Record<string, object>>) {
  const { name: model } = await modelThat(context, true)
  let first: Record<string, unknown> | undefined
  await each(bodies, async (body) => {
    const reply = await ask(context, model, body)
    check(reply.status === 200, `expected 200, got ${reply.status}: ${reply.text.slice(0, 200)}`)
    const got = bodyOf(reply)
    first ??= got
    const usage = got['usage'] as Record<string, unknown>
    whole('usage.image_tokens', usage['image_tokens'], 1)
    for (const name of ['image_tokens', 'input_tokens']) {
      equal(`usage.${name}`, usage[name], (first['usage'] as typeof usage)[name])
    }
    const near = isDeepStrictEqual(Object.keys(got['answers']!), Object.keys(first['answers']!))
    check(near && closeTo(got, first), `another answer: ${reply.text.slice(0, 160)}`)
  })
}

/** Within the effect of another batch size on an answer. */
function closeTo(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const of = (body: typeof a) => (body['answers'] as { q: { noul: number } }).q.noul
  return Math.abs(of(a) - of(b)) < 0.01
}

const statesWith = Object.fromEntries(
  Object.entries(inState).map(([what, [photo, rest]]) => [what, { state: { photo }, ...rest }]),
)
const besideState = Object.fromEntries(
  Object.entries(beside).map(([what, rest]) => [what, { state: 'x', ...rest }]),
)

export const pictureFormRules = section('decisions/Images', {
  'every form of a picture in the state is the same picture': (context) =>
    requireSame(context, statesWith),
  'every form of a picture beside the state is the same picture': (context) =>
    requireSame(context, besideState),
  'a model without vision refuses every form with 400 at its place': async (context) => {
    const { name: model } = await modelThat(context, false)
    await each({ ...statesWith, ...besideState }, async (body) => {
      const [place = 'state.photo'] = Object.keys(body).filter((name) => name !== 'state')
      refusalOf(await ask(context, model, body), 400, 'invalid_request', place)
    })
  },
  'media that no model reads are refused with 400, not ignored': (context) =>
    each(['videos', 'audio', 'media', 'files'], (name) => {
      const body = JSON.stringify({ state: 'x', questions, [name]: ['data:video/mp4;base64,AAAA'] })
      return context.refuse(body, 400, name)
    }),
  'an asset that is named nowhere is refused with 400': async (context) => {
    const { name: model } = await modelThat(context, true)
    const reply = await ask(context, model, { state: 'x', assets: { 'photo-1': asset } })
    refusalOf(reply, 400, 'invalid_request', 'photo-1')
  },
  'a body in parts may be compressed': async (context) => {
    const { name: model } = await modelThat(context, true)
    const assets = { 'photo-1': { type: 'image', format: 'png', part: 'p' } }
    const request = json(JSON.stringify({ questions, model, state: 'photo-1', assets }))
    const plain = await sendParts(context, [request, file('p')])
    equal('status', plain.status, 200)
    const tokens = (of: Reply) => (bodyOf(of)['usage'] as { input_tokens: number }).input_tokens
    await each(compressors, async (coded) => {
      const reply = await sendParts(context, [request, file('p')], '--', coded)
      equal('status', reply.status, 200)
      equal('usage.input_tokens', tokens(reply), tokens(plain))
    })
  },
  'parts that lie are refused with 400': async (context) => {
    const { name: model } = await modelThat(context, true)
    const assets = { 'photo-1': { type: 'image', format: 'png', part: 'p' } }
    const request = json(JSON.stringify({ questions, model, state: 'photo-1', assets }))
    equal('status', (await sendParts(context, [request, file('p')])).status, 200)
    const lies: Readonly<Record<string, readonly Part[]>> = {
      'no part of that name': [request, file('q')],
      'a file that nobody names': [request, file('p'), file('q')],
      'a name twice': [request, file('p'), file('p')],
      'two parts of JSON': [request, request, file('p')],
      'no part of JSON': [file('p')],
      'a part that is no picture': [request, file('p', Buffer.from('no picture'))],
    }
    await each(lies, async (parts) =>
      refusalOf(await sendParts(context, parts), 400, 'invalid_request'),
    )
    refusalOf(await sendParts(context, [request, file('p')], ''), 400, 'invalid_request')
  },
})
