/** How batches count in a workspace's limits, and what they cost. */
import t from 'tap'
import { OiError } from '../../src/errors.js'
import { get, linesType } from '../helpers/asking.js'
import { about, numbers, postBatch, replyOf, requestsAbout } from '../helpers/batch.js'
import { codeOf, type LimitedServer, limitsOf, withLimits } from '../helpers/limited.js'
import { Slow, stubDecider } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

/** Answers that are charged so far. */
const charged = ({ accounts }: LimitedServer) => accounts.usage('default').usage[0]?.requests ?? 0

t.test('each item counts as a request, answers are paid, and no place stays taken', (t) =>
  withLimits({ requestsPerMinute: 10, concurrent: 3 }, {}, async (server) => {
    const reply = await postBatch(server, { requests: [about(1), 'wrong', about(3)] })
    t.equal(limitsOf(reply).requests[1], '7')
    await reply.text()
    t.equal(charged(server), 2)
    await (await postBatch(server, requestsAbout([1]), { accept: linesType })).text()
    t.equal(charged(server), 3)
    const left = limitsOf(await get(server, '/v1/models'))
    t.match(left, { requests: ['10', '6'], concurrent: ['3', '3'] })
  }),
)

t.test('items beyond the allowance have 429, and the call has 200', async (t) => {
  for (const accept of ['application/json', linesType]) {
    await withLimits({ requestsPerMinute: 3 }, {}, async (server) => {
      const reply = await postBatch(server, requestsAbout(numbers(5)), { accept })
      t.equal(reply.status, 200)
      const text = await reply.text()
      t.equal(text.match(/"status":429,"error":\{"code":"rate_limit_exceeded"/g)?.length, 2)
      t.match(text, /"index":3,"status":429/)
      t.equal(charged(server), 3)
    })
  }
})

for (const [what, spend, status, code] of [
  ['requests left', ({ post }) => post(), 429, 'rate_limit_exceeded'],
  [
    'a balance',
    ({ accounts, workspaceId }) => {
      for (const amount of [5, -5]) accounts.credits.add(workspaceId, amount)
    },
    402,
    'insufficient_balance',
  ],
] as const satisfies readonly (readonly [
  string,
  (server: LimitedServer) => unknown,
  number,
  string,
])[]) {
  t.test(`a call without ${what} is refused as a whole with ${status}`, (t) =>
    withLimits({ requestsPerMinute: 1 }, {}, async (server) => {
      await spend(server)
      const before = charged(server)
      const reply = await postBatch(server, requestsAbout(numbers(5)), { accept: linesType })
      t.equal(reply.status, status)
      t.match(reply.headers.get('retry-after'), status === 429 ? /^\d+$/ : null)
      t.equal(await codeOf(reply), code)
      t.equal(charged(server), before)
    }),
  )
}

t.test('an unreadable call counts as one request', (t) =>
  withLimits({ requestsPerMinute: 10 }, {}, async (server) => {
    const reply = await postBatch(server, '{}')
    t.equal(reply.status, 422)
    t.equal(limitsOf(reply).requests[1], '9')
  }),
)

t.test('if too many requests wait for a place already, the call is refused', (t) => {
  const slow = new Slow()
  return withLimits({ concurrent: 1 }, { decider: stubDecider(slow.decide) }, async (server) => {
    for (let i = 0; i < 5; i++) void server.post()
    await until(() => server.handlers.running.size === 5)
    const reply = await postBatch(server, requestsAbout([1]))
    t.equal(reply.status, 429)
    t.equal(await codeOf(reply), 'concurrency_limit_exceeded')
  })
})

t.test('refused items never reach the model', async (t) => {
  const asked: unknown[] = []
  const decider = stubDecider(async ({ state }) => {
    asked.push(state)
    throw new OiError('ERR_TIMEOUT', 'not in time')
  })
  await withLimits({ requestsPerMinute: 2 }, { decider }, async (server) => {
    const { results } = await replyOf(await postBatch(server, requestsAbout([1, 2, 3])))
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, [504, 504, 429])
    t.strictSame(asked, [1, 2])
    t.equal(charged(server), 0)
  })
})
