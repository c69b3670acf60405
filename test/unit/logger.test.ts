/** Log lines for programs: levels, settings, and what they must not contain. */
import t from 'tap'
import { createLogger, type LogSettings } from '../../src/http/log/logger.js'

const key = `oi-${'aB3_-'.repeat(9).slice(0, 43)}`
const request = { id: 'req_1', method: 'get', path: '/', status: 200, ms: 1 }

function logging(settings: LogSettings) {
  const lines: string[] = []
  const logger = createLogger(settings, (line) => lines.push(line))
  return { logger, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

t.test("each line has a level and a time; a request's status decides its level", async (t) => {
  const { logger, entries } = logging({ requests: true })
  for (const status of [200, 429, 0, 503, 500]) logger.request!({ ...request, status })
  logger.notice('a')
  logger.warn('b')
  logger.fault('process', new Error('c'))
  const found = entries()
  const levels = found.map(({ level }) => level)
  t.strictSame(levels, ['info', 'info', 'info', 'warn', 'error', 'info', 'warn', 'error'])
  for (const { time } of found) t.equal(new Date(String(time)).toISOString(), time)
  t.equal(logger.faults, 1)
})

t.test('lines below the level are left out, and faults still count', async (t) => {
  const { logger, entries } = logging({ requests: true, level: 'warn' })
  logger.request!(request)
  logger.notice('a')
  logger.warn('b')
  t.match(entries(), [{ warning: 'b' }])
  logger.adjust({ requests: false, level: 'error' })
  logger.warn('c')
  t.equal(logger.request, undefined)
  logger.fault('x', new Error('d'))
  t.equal(entries().length, 2)
})

t.test('a key is removed wherever a caller puts it', async (t) => {
  const { logger, entries } = logging({ requests: true })
  logger.request!({ ...request, id: key, path: `/v1/${key}/${key}?` })
  logger.fault(key, new Error(`no ${key} there`))
  const text = JSON.stringify(entries())
  t.notMatch(text, key)
  t.match(entries()[0], { id: 'oi-…', path: '/v1/oi-…/oi-…?' })
})

t.test('a long path is cut, and an error without a text is still a fault', async (t) => {
  const { logger, entries } = logging({ requests: true })
  logger.request!({ ...request, path: `/${'x'.repeat(5000)}` })
  const hidden = {
    toString() {
      throw new Error('no')
    },
  }
  logger.fault('x', hidden)
  t.equal(String(entries()[0]!['path']).length, 201)
  t.match(entries()[1], { fault: 'an error without a text' })
})
