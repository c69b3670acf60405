/**
 * Ten thousand requests to the whole server, a fifth of whose clients leave at any moment: nothing
 * may be left running, and memory must not grow with their number.
 *
 * Needs the built addon and the small fixture. OI_TEST_SOAK is another number of requests.
 */
import t from 'tap'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Listening, Measure } from '../fixtures/soak-server.js'
import { createRandom } from '../helpers/random.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { bestOfThree } from '../helpers/trials.js'

const script = fileURLToPath(new URL('../fixtures/soak-server.js', import.meta.url))
const total = Number(process.env['OI_TEST_SOAK'] ?? 10_000)
const warmUp = Math.floor(total / 5)
const workers = 12
const random = createRandom(7)

const words = ['river', 'stone', 'letter', 'cloud', 'engine', 'garden', 'window', 'paper']
const questions = [
  { type: 'noul', instructions: 'Is it about water?' },
  { type: 'choice', criteria: { a: 'one', b: null, c: { d: 1 } } },
  { type: 'score', instructions: 'How much?', criteria: ['none', 'some', 'all'] },
]

// Three times as many, at worst.
t.setTimeout(900_000)

t.test('requests whose clients leave cost nothing permanently', { timeout: 800_000 }, async (t) => {
  const child = fork(script)
  try {
    const { port, key } = await next<Listening>(child)
    const counts = { answered: 0, refused: 0, left: 0 }
    await send(warmUp, port, key, counts)
    let sent = warmUp
    // Which arenas have grown by when is chance; a leak grows every time.
    const grown = await bestOfThree(async () => {
      const before = await settled(child)
      await send(total - warmUp, port, key, counts)
      sent += total - warmUp
      const after = await settled(child)

      t.equal(counts.answered + counts.refused + counts.left, sent)
      t.equal(counts.refused, 0)
      t.ok(counts.left > 0.1 * sent && counts.left < 0.3 * sent, `${counts.left} left`)
      t.ok(after.abandoned > 0.05 * sent, `the server saw ${after.abandoned} of them leave`)
      t.match(after, { running: 0, pending: 0, faults: 0 })

      const heapGrown = after.heapBytes - before.heapBytes
      const grown = after.rssBytes - before.rssBytes
      const fits = grown < 30_000_000 || grown < 0.05 * before.rssBytes
      const said = `resident memory grew by ${grown} of ${before.rssBytes} bytes, the heap by ${heapGrown}`
      t.comment(said)
      return fits && heapGrown < 4_000_000 ? undefined : said
    })
    t.strictSame(grown, [])

    const slow = await bestOfThree(async () => {
      const client = await RawClient.connect(port)
      const startMs = performance.now()
      client.send(some(key))
      t.equal((await client.reply()).status, 200)
      const tookMs = performance.now() - startMs
      client.socket.destroy()
      return tookMs < 500 ? undefined : `${tookMs} ms`
    })
    t.strictSame(slow, [], 'a request is answered at once')
  } finally {
    const exited = once(child, 'exit')
    child.disconnect()
    t.strictSame(await exited, [0, null], 'the server ends by itself')
  }
})

/** Sends requests, on connections that live until a client leaves. */
async function send(
  count: number,
  port: number,
  key: string,
  counts: { answered: number; refused: number; left: number },
): Promise<void> {
  let left = count
  const work = async () => {
    let client = await RawClient.connect(port)
    while (left-- > 0) {
      const bytes = some(key)
      if (random.next() < 0.8) {
        client.send(bytes)
        const { status } = await client.reply()
        counts[status === 200 ? 'answered' : 'refused']++
        continue
      }
      // In the head, in the body, or during the decision.
      client.send(bytes.slice(0, Math.ceil(random.next() * bytes.length * 1.5)))
      await sleep(random.integer(4))
      client.socket.destroy()
      counts.left++
      client = await RawClient.connect(port)
    }
    client.socket.destroy()
  }
  await Promise.all(Array.from({ length: workers }, work))
}

/** A small request, unlike the one before. */
function some(key: string): string {
  const state = Array.from({ length: 1 + random.integer(30) }, () => random.pick(words)).join(' ')
  const asked = Array.from({ length: 1 + random.integer(3) }, (_, i) => [
    `q${i}`,
    random.pick(questions),
  ])
  const body = JSON.stringify({ state, questions: Object.fromEntries(asked) })
  return request('POST', '/v1/systemone', { authorization: `Bearer ${key}` }, body)
}

/** The server's resources when nothing runs any more. */
async function settled(child: ChildProcess): Promise<Measure> {
  for (let i = 0; ; i++) {
    child.send('measure')
    const measure = await next<Measure>(child)
    if ((measure.running === 0 && measure.pending === 0) || i === 1000) return measure
    await sleep(50)
  }
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`The server ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as T)
    })
  })
}
