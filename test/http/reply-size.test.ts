/** The size of a reply that a request may cause, the limits, and where they are documented. */
import t from 'tap'
import { mostOptionsOfRequest } from '../../src/api/limits.js'
import { createWire } from '../../src/server/create-wire.js'
import { readConfig } from '../../src/config.js'
import { linesType, get, post } from '../helpers/asking.js'
import { numbers, postBatch } from '../helpers/batch.js'
import { withFake, type FakeServer } from '../helpers/stub.js'

/** A server with the settings of these flags. */
async function withSettings(
  flags: Record<string, number>,
  use: (server: FakeServer) => Promise<void>,
): Promise<void> {
  const { maxQuestions, maxReplyBytes } = readConfig({}, flags)
  const wire = createWire(readConfig({}, flags))
  await withFake({ facts: { maxQuestions }, wire, maxReplyBytes, maxQuestions }, use)
}

const choice = (count: number) => ({
  type: 'choice',
  criteria: Object.fromEntries(numbers(count).map((i) => [`o${i}`, null])),
})
const named = (name: string) => ({ [name]: { type: 'noul', instructions: 'Is it?' } })

t.test('a batch whose reply would be too long is refused before any work, naming the limit', (t) =>
  withSettings({}, async (server) => {
    const questions = named('n'.repeat(3_900_000))
    const level = { q: { type: 'score', criteria: ['x'.repeat(1_000_000), 1] } }
    const requests = numbers(64).map((i) => ({ id: `${i}`, state: i, questions: level }))
    for (const body of [
      { states: numbers(64), questions },
      { states: numbers(256), questions },
      { states: numbers(32), questions: level },
      { requests: requests.slice(0, 3).concat(requests.slice(0, 1)), questions: {} },
    ]) {
      for (const accept of ['application/json', linesType]) {
        const reply = await postBatch(server, body, { accept })
        if ('requests' in body) {
          t.equal(reply.status, 200, 'four of a megabyte fit')
          await reply.text()
          continue
        }
        t.equal(reply.status, 400)
        t.match(await reply.json(), {
          error: { code: 'invalid_request', message: /^states: .*max_reply_bytes, 16777216/ },
        })
      }
    }
    t.equal(server.engine.scored.length, 8)
  }),
)

t.test('the predicted size is never below the real one', (t) =>
  withSettings({ maxReplyBytes: 4096 }, async (server) => {
    let [fit, refused, longest] = [0, 0, 0]
    for (const headers of [{}, { 'x-oi-evidence': '1' }] as Record<string, string>[]) {
      for (let count = 1; count <= 120; count++) {
        const questions = {
          [`"\u0001é${'☃'.repeat(count % 7)}`]: choice(count),
          s: {
            type: 'score',
            criteria: numbers((count % 9) + 1).map((i) => ({ level: i, e: '\n' })),
          },
          n: { type: 'noul', instructions: 'Is it?' },
        }
        const reply = await post(server, { state: 's', questions }, headers)
        const text = await reply.text()
        if (reply.status === 200) {
          fit++
          longest = Math.max(longest, Buffer.byteLength(text))
        } else {
          refused++
          t.match(JSON.parse(text), { error: { message: /max_reply_bytes/ } })
        }
      }
    }
    t.ok(fit > 20 && refused > 20, `${fit} fit, ${refused} do not`)
    t.ok(longest <= 4096 && longest > 1500, `${longest} bytes`)
  }),
)

t.test('a request has a limit of options, which is reported, alone and in a batch', (t) =>
  withSettings({}, async (server) => {
    const many = Math.ceil(mostOptionsOfRequest / 250)
    const questions = Object.fromEntries(numbers(many).map((i) => [`q${i}`, choice(250)]))
    const rule = {
      error: { code: 'invalid_request', message: /16384 .*max_options_per_request.* 16500/ },
    }
    const alone = await post(server, { state: 1, questions })
    t.equal(alone.status, 400)
    t.match(await alone.json(), rule)
    const shared = await postBatch(server, { states: [1, 2], questions })
    t.equal(shared.status, 400)
    t.match(await shared.json(), rule)
    const each = await postBatch(server, { requests: [{ state: 1, questions }] })
    t.match(await each.json(), { results: [{ status: 400, ...rule }] })
  }),
)

t.test(
  'the limit of questions is the same everywhere: enforced, in the models, in the document',
  async (t) => {
    for (const maxQuestions of [2, 300]) {
      await withSettings({ maxQuestions }, async (server) => {
        const { models } = (await (await get(server, '/v1/models')).json()) as {
          models: { limits: Record<string, number> }[]
        }
        t.match(models[0]!.limits, {
          max_questions: maxQuestions,
          max_options_per_request: 16_384,
          max_batch: 256,
          max_body_bytes: 4_194_304,
          max_reply_bytes: 16_777_216,
        })
        const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json()
        t.match(document, {
          components: { schemas: { Questions: { maxProperties: maxQuestions } } },
        })
        const ofThem = (count: number) =>
          Object.assign({}, ...numbers(count).map((i) => named(`q${i}`))) as object
        const most = await post(server, { state: 1, questions: ofThem(maxQuestions) })
        t.equal(most.status, 200)
        t.equal((await post(server, { state: 1, questions: ofThem(maxQuestions + 1) })).status, 400)
      })
    }
  },
)
