/** Which failures are retried, and when. */
import t from 'tap'
import { OiRequestError } from '../../src/client/index.js'
import { backoffMs, pause, readRetryAfter, retryDelayMs } from '../../src/client/retry.js'

const failed = (status: number, retryAfterMs?: number) =>
  new OiRequestError('x', 'no', { status, retryAfterMs })

t.test('only passing failures are retried', async (t) => {
  for (const status of [408, 429, 500, 502, 503, 504, 599]) {
    t.type(retryDelayMs(failed(status), 0), 'number', String(status))
  }
  for (const status of [200, 301, 400, 401, 402, 403, 404, 405, 409, 413, 422]) {
    t.equal(retryDelayMs(failed(status, 1), 0), undefined, String(status))
  }
  t.type(retryDelayMs(new OiRequestError('connection_failed', ''), 0), 'number')
  t.type(retryDelayMs(new OiRequestError('request_timeout', ''), 0), 'number')
  t.equal(retryDelayMs(new OiRequestError('request_aborted', ''), 0), undefined)
})

t.test("the server's wait is kept, up to a minute", async (t) => {
  t.equal(retryDelayMs(failed(503, 0), 3), 0)
  t.equal(retryDelayMs(failed(429, 60_000), 0), 60_000)
  t.ok(retryDelayMs(failed(429, 60_001), 0)! <= 500)
})

t.test('without a wait from the server the pause doubles, with jitter', async (t) => {
  const backoffs = [0, 1, 2, 3, 4, 5, 50].map((tried) => backoffMs(tried, 1))
  t.strictSame(backoffs, [500, 1000, 2000, 4000, 8000, 8000, 8000])
  t.equal(backoffMs(0, 0), 250)
  t.ok(new Set(Array.from({ length: 20 }, () => backoffMs(1))).size > 1)
})

const now = 'Sun, 06 Nov 1994 08:49:37 GMT'
for (const [title, headers, ms] of [
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '3' }, 3000],
  ['milliseconds before seconds', { 'retry-after': '3', 'retry-after-ms': '120' }, 120],
  ['seconds where the milliseconds are none', { 'retry-after': '3', 'retry-after-ms': 'x' }, 3000],
  ['zero', { 'retry-after': '0' }, 0],
  ['nothing of an empty header', { 'retry-after': '', 'retry-after-ms': '' }, undefined],
  ['nothing of a negative number', { 'retry-after-ms': '-5' }, undefined],
  ['nothing of a word', { 'retry-after': 'soon' }, undefined],
  [
    'a date by the clock of the server',
    { 'retry-after': 'Sun, 06 Nov 1994 08:49:42 GMT', date: now },
    5000,
  ],
  ['no time of a date that has passed', { 'retry-after': now }, 0],
] as const) {
  t.test(`retry-after: ${title}`, async (t) => {
    t.equal(readRetryAfter(new Headers(headers)), ms)
  })
}

t.test('retry-after: a date counts by our clock if the server sends none', async (t) => {
  const date = new Date(Date.now() + 30_000).toUTCString()
  const ms = readRetryAfter(new Headers({ 'retry-after': date }))!
  t.ok(ms > 0 && ms <= 30_000, `${ms} ms`)
})

t.test('a pause ends when it is aborted, and leaves no listener behind', async (t) => {
  const controller = new AbortController()
  const long = pause(3_600_000, controller.signal)
  controller.abort()
  await long
  await pause(3_600_000, AbortSignal.abort())
  let listeners = 0
  const { signal } = new AbortController()
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++
    addEventListener.apply(signal, args)
  }
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--
    removeEventListener.apply(signal, args)
  }
  await pause(1, signal)
  t.equal(listeners, 0)
})
