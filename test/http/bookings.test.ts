/**
 * Bookings are exactly the answers with 200, in every way in which a request can end.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import { type Charged, openAdmission } from '../../src/http/access/admission.js'
import { linesType, decidePath, get, post } from '../helpers/asking.js'
import { postBatch, readLines, replyOf, requestsAbout } from '../helpers/batch.js'
import { decision, Slow, stubDecider, type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

/** Books when the test says so. */
class SlowAdmission {
  readonly booked: Charged[] = []
  readonly #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = []

  readonly admission = {
    ...openAdmission,
    book: (_caller: unknown, charged: Charged) =>
      new Promise<boolean>((resolve, reject) => {
        const book = () => {
          this.booked.push(charged)
          resolve(true)
        }
        this.#waiting.push({ resolve: book, reject })
      }),
  }

  get waiting(): number {
    return this.#waiting.length
  }

  write(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  refuse(): void {
    const error = new OiError('ERR_OVERLOADED', 'cannot be written', { retryAfterMs: 2000 })
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

const ask = (server: StubServer, signal?: AbortSignal) => post(server, {}, {}, decidePath, signal)

/** Decides when the test says so, whatever happens to the request. */
function stubborn() {
  const ends: (() => void)[] = []
  const decide = () => new Promise<Decision>((resolve) => ends.push(() => resolve(decision)))
  return { ends, decider: stubDecider(decide) }
}

t.test('a decision after the deadline is not booked', async (t) => {
  const { ends, decider } = stubborn()
  const slow = new SlowAdmission()
  await withServer({ decider, admission: slow.admission, deadlineMs: 50 }, async (server) => {
    t.equal((await ask(server)).status, 504)
    const { results } = await replyOf(await postBatch(server, requestsAbout([1, 2])))
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, [504, 504])
    for (const end of ends) end()
    await sleep(10)
    t.equal(ends.length, 3)
    t.equal(slow.waiting, 0)
  })
})

t.test(
  'a decision before the deadline is booked and answered, however long that takes',
  async (t) => {
    for (const accept of ['', 'application/json', linesType]) {
      const slow = new SlowAdmission()
      await withServer(
        { admission: slow.admission, deadlineMs: 50, batchDeadlineMs: 60 },
        async (server) => {
          const asked =
            accept === '' ? ask(server) : postBatch(server, requestsAbout([1, 2]), { accept })
          await until(() => slow.waiting === (accept === '' ? 1 : 2))
          await sleep(120)
          t.equal(server.handlers.running.size, 1)
          slow.write()
          const reply = await asked
          t.equal(reply.status, 200)
          const text = await reply.text()
          if (accept !== '') {
            const { totals } =
              accept === linesType
                ? readLines(text)
                : { totals: JSON.parse(text) as { usage: object } }
            t.match(totals, { usage: { input_tokens: 24, output_tokens: 6 } })
          }
          t.equal(slow.booked.length, accept === '' ? 1 : 2)
        },
      )
    }
  },
)

t.test('a decision at the end of the grace period is booked and answered', async (t) => {
  const slow = new SlowAdmission()
  await withServer({ admission: slow.admission }, async (server) => {
    const asked = [ask(server), postBatch(server, requestsAbout([1]))]
    await until(() => slow.waiting === 2)
    const closed = server.server.close(20)
    await sleep(60)
    slow.write()
    for (const reply of await Promise.all(asked)) t.equal(reply.status, 200)
    await closed
    t.equal(slow.booked.length, 2)
  })
})

t.test('an answer that cannot be booked becomes 503, and can be tried again', async (t) => {
  for (const accept of ['', 'application/json', linesType]) {
    const slow = new SlowAdmission()
    await withServer({ admission: slow.admission }, async (server) => {
      const asked = accept === '' ? ask(server) : postBatch(server, requestsAbout([1]), { accept })
      await until(() => slow.waiting === 1)
      slow.refuse()
      const reply = await asked
      t.equal(reply.status, accept === '' ? 503 : 200)
      const text = await reply.text()
      t.match(text, /"code":"overloaded"/)
      if (accept === '') t.match(reply.headers.get('retry-after'), /^[23]$/)
      else t.match(text, /"status":503.*"usage":\{"input_tokens":0/s)
      t.equal(slow.booked.length, 0)
    })
  }
})

t.test('a decision that cannot be written as a reply is a fault, and not booked', async (t) => {
  const booked: unknown[] = []
  const admission = {
    ...openAdmission,
    book: (_caller: unknown, charged: Charged) => void booked.push(charged),
  }
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const broken = [
    { ...decision, answers: circular as never },
    { ...decision, timings: null as never },
  ]
  for (const bad of broken) {
    await withServer({ admission, decider: stubDecider(async () => bad) }, async (server) => {
      t.equal((await ask(server)).status, 500)
      const { results } = await replyOf(await postBatch(server, requestsAbout([1])))
      t.match(results, [{ status: 500 }])
    })
  }
  const long = { ...decision, model: 'm'.repeat(10_000) }
  const decider = stubDecider(async () => long)
  await withServer({ admission, decider, maxReplyBytes: 5000 }, async (server) => {
    t.equal((await ask(server)).status, 400)
    const { results } = await replyOf(await postBatch(server, requestsAbout([1])))
    t.match(results, [{ status: 400, error: { message: /max_reply_bytes/ } }])
  })
  t.strictSame(booked, [])
})

for (const [what, count, asking] of [
  ['an answer', 1, ask],
  [
    'each answer of a batch',
    3,
    (server: StubServer, signal: AbortSignal) =>
      postBatch(server, requestsAbout([0, 1, 2]), {}, signal),
  ],
] as const) {
  t.test(`${what} whose client has gone is booked`, async (t) => {
    const { ends, decider } = stubborn()
    const slow = new SlowAdmission()
    await withServer({ decider, admission: slow.admission }, async (server) => {
      const leaving = new AbortController()
      asking(server, leaving.signal).catch(() => {})
      await until(() => ends.length === count)
      leaving.abort()
      await until(() => server.handlers.running.size === 0)
      for (const end of ends) end()
      await until(() => slow.waiting === count)
      slow.write()
      t.equal(slow.booked.length, count)
    })
  })
}

t.test('limits that cannot be read any more are left out of replies, also of errors', async (t) => {
  const headers = () => {
    throw new Error('disk I/O error')
  }
  const slow = new Slow()
  await withServer(
    {
      admission: { ...openAdmission, headers },
      decider: stubDecider(slow.decide),
      deadlineMs: 200,
    },
    async (server) => {
      const late = ask(server)
      await until(() => slow.signals.length === 1)
      t.equal((await late).status, 504)
      const asked = ask(server)
      await until(() => slow.signals.length === 2)
      slow.release()
      t.equal((await asked).status, 200)
      t.equal((await get(server, '/v1/models')).status, 200)
    },
  )
})
