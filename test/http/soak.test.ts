/**
 * Ten thousand requests, some of whose clients leave at any moment: nothing may be left running,
 * and memory must not grow with their number.
 */
import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const total = 10_000
const workers = 16

t.test('random aborts leave nothing behind', { timeout: 600_000 }, async (t) => {
  let pending = 0
  const decider = stubDecider(async (_request, { signal } = {}) => {
    pending++
    try {
      const stop = new AbortController()
      signal!.addEventListener('abort', () => stop.abort())
      await sleep(Math.random() * 4, undefined, { signal: stop.signal })
      return decision
    } finally {
      pending--
    }
  })
  await withServer({ decider }, async ({ port, key, handlers, log }) => {
    const bytes = request(
      'POST',
      '/v1/systemone',
      { authorization: `Bearer ${key}` },
      JSON.stringify({ state: 'x'.repeat(2000) }),
    )
    let answered = 0
    let left = total
    let heapAtStart = 0
    const work = async () => {
      let client = await RawClient.connect(port)
      while (left-- > 0) {
        // After the warm-up: the reference for the end.
        if (left === total - 2000) heapAtStart = heapBytes()
        const fate = Math.random()
        if (fate < 0.8) {
          client.send(bytes)
          const { status } = await client.reply()
          if (status === 200) answered++
          continue
        }
        // In the head, in the body, or during the decision.
        client.send(bytes.slice(0, Math.ceil(Math.random() * bytes.length * 1.5)))
        await sleep(Math.random() * 3)
        client.socket.destroy()
        client = await RawClient.connect(port)
      }
      client.socket.destroy()
    }
    await Promise.all(Array.from({ length: workers }, work))

    for (let i = 0; i < 3000 && (pending > 0 || handlers.running.size > 0); i++) await sleep(10)
    t.equal(pending, 0)
    t.equal(handlers.running.size, 0)
    t.ok(answered > 0.75 * total)
    t.ok(log.some((line) => line.includes('"status":0')))
    log.length = 0
    const grown = heapBytes() - heapAtStart
    t.ok(grown < 4_000_000, `the heap grew by ${grown} bytes`)
  })
})

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
