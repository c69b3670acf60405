/** How `oi-systemone/client` sends images beside a request. */
import t from 'tap'
import { createClient, image } from 'oi-systemone/client'
import { play, refusal, sendJson, withHttpServer } from '../helpers/http-server.js'
import { png } from '../helpers/pictures.js'
import { withFake } from '../helpers/stub.js'

const questions = { q: { type: 'noul', instructions: 'Is it?' } } as const
const photo = await png(60, 30)

t.test('an image from bytes, a buffer or a blob is answered like a base64 block', async (t) => {
  await withFake({ vision: true }, async ({ url, key }) => {
    const client = createClient({ baseUrl: url, apiKey: key })
    const state = { claim: 'Lunch', photo: image(photo, 'image/png') }
    const wanted = await client.decide({ state, questions })
    t.equal(wanted.usage.image_tokens, 6)
    const bytes = new Uint8Array(photo)
    for (const [name, picture] of [
      ['photo-1', photo],
      ['das "Foto"\r\nof it', bytes.buffer],
      ['request', new Blob([bytes], { type: 'image/png' })],
      ['__proto__', bytes],
    ] as const) {
      const named = { state: { claim: 'Lunch', photo: name }, questions }
      const pictures = Object.fromEntries([[name, picture]])
      const { answers, usage } = await client.decide(named, { pictures })
      t.strictSame(answers, wanted.answers, name)
      t.strictSame(usage, wanted.usage, name)
    }
    const unnamed = client.decide({ state: 'Lunch', questions }, { pictures: { 'photo-1': photo } })
    await t.rejects(unnamed, { status: 400, message: /"photo-1".*: expected to be named/ })
  })
})

t.test('a form is sent again unchanged, without base64, and not compressed', (t) =>
  withHttpServer(
    (_, response, count) => {
      if (count === 0) sendJson(response, 503, refusal('overloaded'))
      else sendJson(response, 200, { model: 'played', answers: {}, usage: {}, latency_ms: 1 })
    },
    async ({ url, received }) => {
      const client = createClient({ baseUrl: url, apiKey: 'oi-k' })
      const pictures = { 'photo-1': new Uint8Array(5000) }
      await client.decide({ state: 'photo-1', questions }, { pictures })
      t.equal(received.length, 2)
      for (const { headers, body } of received) {
        t.match(headers['content-type'], /^multipart\/form-data; boundary=/)
        t.equal(headers['content-encoding'], undefined)
        t.ok(body.includes('\0'.repeat(5000)))
        t.match(body, '"assets":{"photo-1":{"type":"image","part":"picture-0"}}')
      }
    },
  ),
)

t.test('a value that is not an image is refused before anything is sent', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const client = createClient({ baseUrl: url, apiKey: 'oi-k' })
    const ask = (picture: unknown, more = {}) =>
      client.decide({ state: 'a', questions, ...more }, { pictures: { a: picture as Uint8Array } })
    for (const picture of ['iVBOR', undefined, null, {}]) {
      await t.rejects(ask(picture), { name: 'TypeError', message: /^pictures: .* for "a"$/ })
    }
    await t.rejects(ask(photo, { assets: {} }), { message: /without assets/ })
    t.equal(received.length, 0)
  }),
)
