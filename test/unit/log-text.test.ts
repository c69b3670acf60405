/** Log lines for people. */
import t from 'tap'
import { logText } from '../../src/server/log-text.js'
import { createLogger, type RequestEntry } from '../../src/http/log/logger.js'

function said(tell: (logger: ReturnType<typeof createLogger>) => void): string {
  let line = ''
  tell(createLogger({ requests: true }, (text) => (line = text)))
  return logText(line, false)
}

const entry: RequestEntry = {
  ...{ id: 'req_1', method: 'post', path: '/v1/systemone', status: 200, ms: 3.2 },
  ...{ workspace: 'default', key: 1, model: 'oi-small', input_tokens: 120, output_tokens: 8 },
}

t.test('a request is one line, also a refused one and one whose client left', async (t) => {
  t.match(
    said(({ request }) => request!(entry)),
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info {2}POST \/v1\/systemone: 200 · 3\.2 ms · default, key 1 · oi-small · 120 \+ 8 tokens · req_1\n$/,
  )
  const refused = { id: 'a', method: 'post', path: '/x', status: 429, ms: 1, error: 'overloaded' }
  t.match(
    said(({ request }) => request!(refused)),
    / info {2}POST \/x: 429 overloaded · 1 ms · a\n$/,
  )
  t.match(
    said(({ request }) => request!({ ...refused, status: 0 })),
    /the client had gone/,
  )
})

t.test('faults have their stacks, notices and warnings are sentences', async (t) => {
  const fault = said((logger) => logger.fault('req_1', new TypeError('x is not'), 'abc'))
  t.match(fault, / error TypeError: x is not\n {4}at [^]*\n {2}in req_1, body abc\n$/)
  t.match(
    said((logger) => logger.notice('All is well')),
    / info {2}All is well\n$/,
  )
  t.match(
    said((logger) => logger.warn('Less so')),
    / warn {2}Less so\n$/,
  )
})

t.test('a path cannot move the cursor', async (t) => {
  const line = said(({ request }) => request!({ ...entry, path: '/\u001b[2J\u009b1m' }))
  t.notMatch(line, /[\u001b\u009b]/)
})
