/**
 * No request harms the server, whatever is in it.
 *
 * Needs the built addon and the small fixture. Every row of two tables goes through the whole
 * server: the bad ones are refused before they reach the model, the odd ones are answered.
 */
import t, { type Test } from 'tap'
import { isDeepStrictEqual } from 'node:util'
import { keysOf, parseJson } from '../../src/api/json.js'
import { validators } from '../../src/api/schemas.js'
import type { Answer, DecideRequest, Decision, Question } from '../../src/decide/types.js'
import { type BadRequest, badRequests } from '../helpers/bad-requests.js'
import { oddRequests } from '../helpers/odd-requests.js'
import { RawClient } from '../helpers/raw-client.js'
import { good } from '../helpers/request-text.js'
import { type RealServer, withRealServer } from '../helpers/real-server.js'

interface Sent {
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly chunked?: boolean
}

await withRealServer({}, async (server) => {
  t.ok(badRequests.length >= 100)
  for (const bad of badRequests) {
    await t.test(`${bad.what}: refused with ${bad.status}`, async (t) => {
      const asked = server.engine.asked
      const answered = server.engine.answered
      const { status, headers, body } = await post(server, bad)
      t.equal(status, bad.status, body)
      checkHeaders(t, headers)
      checkError(t, JSON.parse(body), bad)
      t.equal(server.engine.asked - asked, bad.counted ? 1 : 0, 'asked the engine')
      t.equal(server.engine.answered - answered, 0, 'reached the model')
    })
  }

  await t.test('afterwards a good request is answered, and nothing is left', async (t) => {
    const { status, body } = await post(server, { body: good })
    t.equal(status, 200, body)
    t.equal(server.handlers.running.size, 0)
    t.notOk(server.log.find((line) => line.includes('"fault"')))
  })

  for (const { what, body, headers } of oddRequests) {
    await t.test(`${what}: answered, under its names and in their order`, async (t) => {
      const reply = await post(server, { body, ...(headers && { headers }) })
      t.equal(reply.status, 200, reply.body.slice(0, 300))
      checkHeaders(t, reply.headers)
      checkAnswers(t, body, reply.body)
    })
  }
})

async function post({ port, key }: RealServer, { body, headers, chunked }: Sent) {
  const bytes = Buffer.from(body)
  const all = {
    host: 'test',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) }),
    ...headers,
  }
  const fields = Object.entries(all).filter(([, value]) => value !== '')
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const client = await RawClient.connect(port)
  try {
    client.send(`POST /v1/systemone HTTP/1.1\r\n${head}\r\n`)
    if (!chunked) client.send(bytes)
    else {
      for (let at = 0; at < bytes.length; at += 100_000) {
        const chunk = bytes.subarray(at, at + 100_000)
        client.send(
          Buffer.concat([
            Buffer.from(`${chunk.length.toString(16)}\r\n`),
            chunk,
            Buffer.from('\r\n'),
          ]),
        )
      }
      client.send('0\r\n\r\n')
    }
    return await client.reply()
  } finally {
    client.socket.destroy()
  }
}

function checkHeaders(t: Test, headers: Record<string, string>): void {
  t.match(headers, {
    'x-request-id': /^req_[0-9a-f]{32}$/,
    'x-typesafe-request-id': headers['x-request-id'] ?? 'none',
    'server-timing': /^queue;dur=.+, tokenize;.+, vision;.+, model;.+, total;/,
    'content-type': /^application\/json$/,
  })
}

/** Exactly the form of the contract. */
function checkError(t: Test, error: unknown, { place, says, status }: BadRequest): void {
  const { message } = (error as { error: { message: string } }).error
  const code = status === 413 ? 'payload_too_large' : 'invalid_request'
  const whole = ['body', 'Content-Type', 'The body'].includes(place)
  t.strictSame(error, {
    error: { code, message, type: 'invalid_request_error', ...(!whole && { param: place }) },
    detail: message,
  })
  t.match(message, says)
  t.ok(message.startsWith(place), `${message} begins with ${place}`)
  t.ok(message.length < 1000, 'a caller is not sent its own text back')
}

/** Names, order and numbers of a 200. */
function checkAnswers(t: Test, sent: string, received: string): void {
  const request = parseJson(sent) as unknown as DecideRequest
  const decision = parseJson(received) as unknown as Decision
  t.ok(validators.response.Check(decision))
  t.strictSame(keysOf(decision), ['model', 'answers', 'usage', 'latency_ms'])
  t.strictSame(keysOf(decision.answers), keysOf(request.questions))
  const wrong = keysOf(request.questions).flatMap((name) => {
    const fault = faultOf(request.questions[name]!, decision.answers[name]!)
    return fault === undefined ? [] : [`${name}: ${fault}`]
  })
  t.strictSame(wrong, [])
}

function faultOf(question: Question, answer: Answer): string | undefined {
  if (answer.type !== question.type) return `the type is ${answer.type}`
  if (answer.type === 'noul' || question.type === 'noul') return undefined
  const keys = keysOf(answer.probabilities)
  const wanted = keysOf(question.criteria)
  if (!isDeepStrictEqual(keys, wanted)) return `probabilities are of ${keys.join()}`
  const sum = keys.reduce((sum, key) => sum + Number(answer.probabilities[key]), 0)
  if (!(Math.abs(sum - 1) < 1e-9)) return `the sum is ${sum}`
  if (answer.type === 'choice') {
    return wanted.includes(answer.choice) ? undefined : `the choice is ${answer.choice}`
  }
  const legend = keysOf(answer.legend)
  return isDeepStrictEqual(legend, wanted) ? undefined : `the legend is of ${legend.join()}`
}
