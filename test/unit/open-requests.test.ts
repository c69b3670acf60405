/** The close of an open model: what is under way is answered, or ended after a while. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { OpenRequests } from '../../src/decide/open-requests.js'
import type { Cancellation } from '../../src/engine/types.js'

const closed = { code: 'ERR_ENGINE_CLOSED' }
const aborted = (signal: Cancellation) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
  )

t.test('a close waits for what runs, and refuses what comes', async (t) => {
  const running = new OpenRequests()
  const answers = [5, 20].map((ms) => running.run(undefined, () => sleep(ms, ms)))
  const done = running.close()
  await t.rejects(
    running.run(undefined, async () => 1),
    closed,
  )
  await done
  t.strictSame(await Promise.all(answers), [5, 20])
})

t.test('what is not answered in time is ended, and says why', async (t) => {
  const running = new OpenRequests(10)
  const own = new AbortController()
  const late = [undefined, own.signal].map((signal) => running.run(signal, aborted))
  const rejected = late.map((one) => t.rejects(one, closed))
  await running.close()
  await Promise.all(rejected)
})

t.test('a caller who gives up gets the own error', async (t) => {
  const running = new OpenRequests()
  const own = new AbortController()
  const asked = t.rejects(running.run(own.signal, aborted), { message: 'aborted' })
  own.abort()
  await asked
  await running.close()
})
