/**
 * Which requests the queue refuses, and its message: places and time are shared between workspaces,
 * and only the work before a request counts against it.
 *
 * Needs the built addon and the `small` fixture. Waiting requests take seconds, and are cancelled.
 */
import t from 'tap'
import { setMaxListeners } from 'node:events'
import type { OiError } from '../../src/errors.js'
import type { Engine } from '../../src/engine/types.js'
import {
  endlessContext,
  outcomeOf,
  taken,
  text,
  unique,
  user,
  withEngine,
} from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const options = { contextTokens: endlessContext, hostCacheBytes: 0, threads: 1 }
const patient = { ...options, maxBacklogMs: 2 ** 31 }

const body = text(30_000)
const large = (id: string) => ({ ...unique(id, 1), prefix: [user(`${id}: ${body}`)] })

/** Requests that hold places until they leave together. */
function crowd(engine: Engine) {
  const leaving = new AbortController()
  const { signal } = leaving
  setMaxListeners(0, signal)
  const ends: Promise<string>[] = []
  const messages: string[] = []
  return {
    messages,
    /** How many of this many requests are accepted. */
    async ask(workspace: number, count: number): Promise<number> {
      const { refused } = engine.stats()
      for (let i = 0; i < count; i++) {
        const one = engine.score(large(`${workspace} ${i}`), { workspace, signal })
        one.catch(({ code, message }: OiError) => {
          if (code === 'ERR_OVERLOADED') messages.push(message)
        })
        ends.push(outcomeOf(one))
      }
      await taken(engine)
      return count - (engine.stats().refused - refused)
    },
    async leave() {
      leaving.abort()
      return Promise.all(ends)
    },
  }
}

// BUG: the limit on their number ignored shares.
t.test('places in the queue are shared between workspaces', (t) =>
  withEngine('small', { ...patient, maxQueued: 12 }, async (engine) => {
    const { ask, leave, messages } = crowd(engine)
    t.equal(await ask(1, 20), 12, 'all places, while nobody else is there')
    t.equal(await ask(2, 20), 6)
    t.equal(await ask(3, 20), 4)
    t.equal(await ask(1, 1), 0)
    for (let other = 4; other <= 30; other++) t.ok((await ask(other, 4)) >= 1, `workspace ${other}`)
    const { queuedRequests } = engine.stats()
    t.ok(queuedRequests < 60, `bounded: ${queuedRequests} for 30 workspaces`)
    await leave()
    t.equal(
      messages[0],
      '12 requests of this workspace are waiting for the model, as many as may wait',
    )
    t.match(messages.at(-1), /its share of the 12 that may wait is 1/)
  }),
)

t.test('beside five workspaces that ask without end, another one is never refused', (t) =>
  withEngine('small', { ...patient, contextTokens: 4096, maxQueued: 64 }, async (engine) => {
    let running = true
    const loops = Array.from({ length: 5 * 16 }, async (_, i) => {
      for (let n = 0; running; n++) {
        const one = engine.score(unique(`${i} ${n}`, 20), { workspace: i % 5 })
        if ((await outcomeOf(one)) !== 'answered') await new Promise(setImmediate)
      }
    })
    await until(() => engine.stats().refused > 100)
    const outcomes: string[] = []
    for (let i = 0; i < 108; i++) {
      outcomes.push(await outcomeOf(engine.score(unique(`other ${i}`, 20), { workspace: 9 })))
    }
    running = false
    await Promise.all(loops)
    t.strictSame(new Set(outcomes), new Set(['answered']))
  }),
)

// BUG: everything that the workspace had accepted counted, whatever came before the request.
t.test('a small request is not refused for a large one of its workspace', (t) =>
  withEngine('small', { ...options, maxBacklogMs: 100 }, async (engine) => {
    await engine.score(unique('measured', 2000))
    const { ask, leave } = crowd(engine)
    t.equal(await ask(1, 1), 1)
    await until(() => engine.stats().backlogMs > 300)
    const another = engine.score(large('another'), { workspace: 1 })
    const { code, message, retryAfterMs } = (await another.catch((e: unknown) => e)) as {
      code: string
      message: string
      retryAfterMs: number
    }
    t.equal(code, 'ERR_OVERLOADED', 'one as large is')
    t.match(
      message,
      /^what is before this request takes the model about [\d.]+ s, and at most 0.1 s/,
    )
    t.ok(retryAfterMs < engine.stats().backlogMs + 100, `again in ${retryAfterMs} ms`)
    for (let i = 0; i < 30; i++) {
      t.equal(await outcomeOf(engine.score(unique(i, 20), { workspace: 1 })), 'answered')
    }
    await leave()
  }),
)

t.test("a workspace's work is bounded, even if each request is smaller than the last", (t) =>
  withEngine('small', { ...options, maxBacklogMs: 100 }, async (engine) => {
    await engine.score(unique('measured', 2000))
    const leaving = new AbortController()
    const { signal } = leaving
    setMaxListeners(0, signal)
    const ends = Array.from({ length: 100 }, (_, i) =>
      outcomeOf(engine.score(unique(i, 10_000 - 50 * i), { signal })),
    )
    await taken(engine)
    const { refused } = engine.stats()
    leaving.abort()
    await Promise.all(ends)
    t.ok(refused > 80, `${refused} of 100 refused`)
  }),
)

// BUG: it counted until the end of its step.
t.test('a cancelled request does not count any more', (t) =>
  withEngine('small', { ...patient, maxQueued: 2 }, async (engine) => {
    for (let round = 0; round < 5; round++) {
      const { ask, leave } = crowd(engine)
      const { steps } = engine.stats()
      t.equal(await ask(1, 3), 2)
      await until(() => engine.stats().steps > steps + 2)
      const left = leave()
      await taken(engine)
      const { queuedRequests, queuedTokens, backlogMs } = engine.stats()
      t.same(
        { queuedRequests, queuedTokens, backlogMs },
        { queuedRequests: 0, queuedTokens: 0, backlogMs: 0 },
      )
      await left
    }
    t.equal(engine.stats().cancelled, 10)
  }),
)

// BUG: a finished answer could not be counted while the queue was full.
t.test('tokens are counted while no more requests may wait', (t) =>
  withEngine('small', { ...patient, maxQueued: 2 }, async (engine) => {
    const { ask, leave } = crowd(engine)
    t.equal(await ask(1, 3), 2)
    t.ok((await engine.countTokens(text(400))) >= 400)
    await leave()
  }),
)

t.test('a request without a place gets the time at which the shortest one leaves', (t) =>
  withEngine('small', { ...patient, maxQueued: 3 }, async (engine) => {
    await engine.score(unique('measured', 2000))
    const { ask, leave } = crowd(engine)
    t.equal(await ask(1, 2), 2)
    await until(() => engine.stats().backlogMs > 100)
    const short = engine.score(unique('short', 200), { workspace: 1 })
    const refused = engine.score(unique('refused', 200), { workspace: 1 })
    const error = (await refused.catch((e: unknown) => e)) as { retryAfterMs: number }
    const { backlogMs } = engine.stats()
    t.ok(error.retryAfterMs < backlogMs / 4, `${error.retryAfterMs} of ${backlogMs} ms`)
    t.equal(await outcomeOf(short), 'answered')
    await leave()
  }),
)
