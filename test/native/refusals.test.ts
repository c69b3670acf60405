/**
 * Which requests are refused, and how requests end without an answer.
 *
 * Needs the built addon and the `small` fixture. Waiting and running requests take seconds, and are
 * cancelled afterwards, so none is done before the test comes to it.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/types.js'
import {
  endless,
  endlessContext,
  input,
  isolated,
  outcomeOf,
  unique,
  user,
  withEngine,
} from '../helpers/fixture.js'

const options = { contextTokens: 4096, maxBacklogMs: 2 ** 31, hostCacheBytes: 0, threads: 1 }

t.test('a request that waits too long ends as ERR_TIMEOUT, and others go on', (t) =>
  withEngine('small', { ...options, contextTokens: endlessContext }, async (engine) => {
    const others = [1, 2, 3].map((i) => outcomeOf(engine.score(unique(i, 800))))
    const late = [4, 5].map((i) => outcomeOf(engine.score(endless(i), { deadlineMs: 30 })))
    const never = outcomeOf(engine.score(unique(6, 10), { deadlineMs: 0 }))
    t.same(await Promise.all(late), ['ERR_TIMEOUT', 'ERR_TIMEOUT'])
    t.equal(await never, 'ERR_TIMEOUT')
    t.same(await Promise.all(others), ['answered', 'answered', 'answered'])
    const patient = engine.score(unique(7, 10), { deadlineMs: 60_000 })
    t.equal(await outcomeOf(patient), 'answered')
    const { expired, answered, queuedRequests } = engine.stats()
    t.same({ expired, answered, queuedRequests }, { expired: 3, answered: 4, queuedRequests: 0 })
  }),
)

/**
 * Asks until a request is refused. Without pauses, so that the engine does not get ahead; a runner
 * refuses a moment later.
 */
async function overloaded(engine: Engine, workspace: number) {
  const pending: Promise<string>[] = []
  for (let i = 0; i < 500; i++) {
    const { refused } = engine.stats()
    const one = engine.score(unique(`${workspace} ${i}`, 400), { workspace })
    if (isolated) await Promise.race([outcomeOf(one), sleep(2)])
    if (engine.stats().refused > refused) return { pending, refused: one }
    pending.push(outcomeOf(one))
  }
  return { pending, refused: undefined }
}

t.test('beyond maxBacklogMs a workspace is refused at once, another is not', (t) =>
  withEngine('small', { ...options, maxBacklogMs: 20 }, async (engine) => {
    t.equal(await outcomeOf(engine.score(unique('first', 2000))), 'answered', 'however large')
    const { pending, refused } = await overloaded(engine, 1)
    t.ok(refused, `refused after ${pending.length}`)
    await t.rejects(refused!, { code: 'ERR_OVERLOADED' })
    const error = (await refused!.catch((e: unknown) => e)) as { retryAfterMs: number }
    t.ok(error.retryAfterMs > 0, `to come back in ${error.retryAfterMs} ms`)
    t.equal(await outcomeOf(engine.score(unique('other', 5), { workspace: 2 })), 'answered')
    t.ok((await Promise.all(pending)).every((outcome) => outcome === 'answered'))
    t.equal(engine.stats().refused, 1)
    t.equal(engine.stats().backlogMs, 0)
    const later = engine.score(unique('later', 2000), { workspace: 1 })
    t.equal(await outcomeOf(later), 'answered')
  }),
)

// BUG: tokenizing counts as workspace 0's, whichever asks, and is refused if that floods.
t.test('tokenizing is not refused because a workspace floods', (t) =>
  withEngine('small', { ...options, maxBacklogMs: 20 }, async (engine) => {
    await engine.score(unique('first', 2000))
    const { pending, refused } = await overloaded(engine, 0)
    const tokenized = outcomeOf(engine.tokenize([user('some words')]))
    t.equal(await outcomeOf(refused ?? Promise.resolve()), 'ERR_OVERLOADED')
    t.equal(await tokenized, 'answered')
    await Promise.all(pending)
  }),
)

t.test('close() waits for accepted requests and refuses later ones', (t) =>
  withEngine('small', options, async (engine) => {
    const accepted = Array.from({ length: 20 }, (_, i) =>
      outcomeOf(engine.score(unique(i, 60), { workspace: i % 3 })),
    )
    const closed = engine.close()
    const after = outcomeOf(engine.score(input(3, 1)))
    await closed
    t.ok((await Promise.all(accepted)).every((outcome) => outcome === 'answered'))
    t.equal(await after, 'ERR_ENGINE_CLOSED')
    t.equal(await outcomeOf(engine.score(input(3, 1))), 'ERR_ENGINE_CLOSED')
  }),
)
