/**
 * The coding of a reply that a request wants (RFC 9110, 12.5.3).
 */
import t from 'tap'
import { refusesPlain, replyCodingOf, replyCodings } from '../../src/http/reply/reply-coding.js'

/** The preferred coding at equal weights. */
const first = replyCodings[0]!.name

t.test('the coding with the highest weight is chosen', async (t) => {
  for (const [accepts, name] of [
    ['', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0.8 , gzip; q=0.8', 'br'],
    ['br;q=0.123,gzip;q=0.124', 'gzip'],
    ['br;Q=0, gzip', 'gzip'],
    ['*', first],
    ['*;q=0.1, gzip', 'gzip'],
    ['br;q=0, zstd;q=0, *', 'gzip'],
    ['identity', undefined],
    ['identity, gzip', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=1', 'gzip'],
    ['identity;q=0', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=0, *;q=0', undefined],
    ['deflate, compress', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=x', undefined],
    ['gzip;level=9', undefined],
    [',, ;q=1,', undefined],
  ] as const) {
    t.equal(replyCodingOf(accepts)?.name, name, JSON.stringify(accepts))
  }
})

t.test('whether a reply may be sent uncompressed', async (t) => {
  for (const [accepts, refused] of [
    ['', false],
    ['gzip', false],
    ['identity;q=0', true],
    ['gzip, IDENTITY;Q=0.000', true],
    ['*;q=0', true],
    ['gzip, *;q=0', true],
    ['*;q=0, identity', false],
    ['gzip;q=0', false],
    ['identity;q=0.001', false],
  ] as const) {
    t.equal(refusesPlain(accepts), refused, JSON.stringify(accepts))
  }
})
