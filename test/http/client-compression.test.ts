/** How `oi-systemone/client` compresses requests. */
import t from 'tap'
import { createClient } from 'oi-systemone/client'
import { play, refusal, sendJson, withHttpServer } from '../helpers/http-server.js'
import { withFake } from '../helpers/stub.js'

const asking = (state: string) => ({
  state,
  questions: { q: { type: 'noul', instructions: 'Wet?' } } as const,
})
const long = 'It rains. '.repeat(200)

t.test('bodies from 1 KiB on are compressed, unless that is switched off', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const client = createClient({ baseUrl: url, apiKey: 'oi-k' })
    for (const state of ['It rains.', long]) await client.decide(asking(state))
    await client.batch([asking(long)])
    await createClient({ baseUrl: url, apiKey: 'oi-k', compress: false }).decide(asking(long))
    const codings = received.map(({ headers }) => headers['content-encoding'])
    t.strictSame(codings, [undefined, 'gzip', 'gzip', undefined])
    t.ok(Number(received[1]!.headers['content-length']) < 300)
    t.equal(received[1]!.body, received[3]!.body)
  }),
)

t.test('a server that refuses compressed bodies gets plain ones from then on', (t) =>
  withHttpServer(
    (request, response, count) => {
      if (request.headers['content-encoding'] === undefined) play(request, response, count)
      else sendJson(response, 415, refusal('invalid_request'))
    },
    async ({ url, received }) => {
      const client = createClient({ baseUrl: url, apiKey: 'oi-k', maxRetries: 0 })
      for (let i = 0; i < 2; i++) t.equal((await client.decide(asking(long))).model, 'played')
      const codings = received.map(({ headers }) => headers['content-encoding'])
      t.strictSame(codings, ['gzip', undefined, undefined])
    },
  ),
)

t.test('this server answers both alike, and reports cached tokens', (t) =>
  withFake({}, async ({ url, key }) => {
    const client = createClient({ baseUrl: url, apiKey: key })
    const plain = createClient({ baseUrl: url, apiKey: key, compress: false })
    const first = await client.decide(asking(long))
    const second = await plain.decide(asking(long))
    t.strictSame(second.answers, first.answers)
    t.equal(first.cachedTokens, 0)
    t.ok(second.cachedTokens! > 0)
    const { cachedTokens } = await client.batch([asking(long)])
    t.ok(cachedTokens! > 0)
  }),
)
