/** The common headers of replies. */
import t from 'tap'
import { headersOf } from '../../src/http/reply/reply.js'

t.test('server-timing has each phase in milliseconds with two decimal places', async (t) => {
  const timings = { queue: 0, tokenize: 0.004, vision: 1.996, model: 60_000.125 }
  const headers = headersOf('id', timings, 12.34, {})
  t.equal(
    headers[headers.indexOf('server-timing') + 1],
    'queue;dur=0.00, tokenize;dur=0.00, vision;dur=2.00, model;dur=60000.13, total;dur=12.34',
  )
  for (let ms = 0.001; ms < 100_000; ms *= 1.17) {
    const [told] = /total;dur=(\S+)$/.exec(headersOf('id', timings, ms, {})[7]!)!.slice(1)
    t.match(told, /^\d+\.\d\d$/)
    t.ok(Math.abs(Number(told) - ms) < 0.00501, `${ms} is told as ${told}`)
  }
})
