/**
 * The whole server over a model: it keeps the rules of conformance, and answers what only looks
 * wrong.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { isDeepStrictEqual } from 'node:util'
import { Client } from '../../scripts/conformance/client.js'
import { Context } from '../../scripts/conformance/context.js'
import { runRules } from '../../scripts/conformance/rule.js'
import { rules } from '../../scripts/conformance/rules.js'
import { keysOf, parseJson } from '../../src/api/json.js'
import { validators } from '../../src/api/schemas.js'
import type { Answer, DecideRequest, Decision, Question } from '../../src/decide/types.js'
import { post } from '../helpers/asking.js'
import { tooLong } from '../helpers/bad-values.js'
import { oddRequests } from '../helpers/odd-requests.js'
import { withRealServer } from '../helpers/real-server.js'
import { ofWorkspaces } from '../helpers/stub.js'

t.setTimeout(120_000)

await withRealServer(
  { maxBacklogMs: 2 ** 31, handlers: { admissionOf: ofWorkspaces } },
  async (server) => {
    await t.test('every rule is kept', { timeout: 120_000 }, async (t) => {
      const client = new Client(server.url)
      t.teardown(() => client.close())
      const results = await runRules(rules, new Context(client, { key: server.key }))
      const failed = results.filter(({ outcome }) => outcome === 'FAIL')
      t.strictSame(failed, [])
    })

    for (const [what, body, place, says] of tooLong) {
      await t.test(`${what}: refused at its place, by the engine alone`, async (t) => {
        const { asked, answered } = server.engine
        const reply = await post(server, body)
        t.equal(reply.status, 400)
        const { error, detail } = (await reply.json()) as { error: object; detail: string }
        t.match(error, { code: 'invalid_request', param: place, message: says })
        t.ok(detail.startsWith(place), detail)
        t.equal(server.engine.asked - asked, 1)
        t.equal(server.engine.answered, answered)
      })
    }

    for (const { what, body } of oddRequests) {
      await t.test(`${what}: answered, under its names and in their order`, async (t) => {
        const reply = await post(server, body)
        const text = await reply.text()
        t.equal(reply.status, 200, text.slice(0, 300))
        const request = parseJson(body) as unknown as DecideRequest
        const decision = parseJson(text) as unknown as Decision
        t.ok(validators.response.Check(decision))
        t.strictSame(keysOf(decision.answers), keysOf(request.questions))
        const wrong = keysOf(request.questions).flatMap((name) => {
          const fault = faultOf(request.questions[name]!, decision.answers[name]!)
          return fault === undefined ? [] : [`${name}: ${fault}`]
        })
        t.strictSame(wrong, [])
      })
    }

    await t.test('afterwards nothing is left', async (t) => {
      t.equal(server.handlers.running.size, 0)
      t.equal(server.engine.pending, 0)
      t.notOk(server.log.find((line) => line.includes('"fault"')))
    })
  },
)

/** What is wrong with the names of an answer. */
function faultOf(question: Question, answer: Answer): string | undefined {
  if (answer.type !== question.type) return `the type is ${answer.type}`
  if (answer.type === 'noul' || question.type === 'noul') return undefined
  const keys = keysOf(answer.probabilities)
  const wanted = keysOf(question.criteria)
  if (!isDeepStrictEqual(keys, wanted)) return `probabilities are of ${keys.join()}`
  if (answer.type === 'choice') {
    return wanted.includes(answer.choice) ? undefined : `the choice is ${answer.choice}`
  }
  const legend = keysOf(answer.legend)
  return isDeepStrictEqual(legend, wanted) ? undefined : `the legend is of ${legend.join()}`
}
