/** The overview: what the last minute and the hour had, from what `/metrics` counts. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { withAdmin } from '../helpers/admin-server.js'
import { readPrometheus } from '../helpers/prometheus.js'

type Overview = ReplyOf<'getOverview'>

const sum = (counts: readonly number[]) => counts.reduce((sum, n) => sum + n, 0)

t.test('decisions, refusals by reason and times are those of /metrics', (t) =>
  withAdmin(t, {}, async ({ admin, post, url }) => {
    await post()
    await post()
    await post(undefined, '{')
    await post('oi-wrong')
    // A slot is shown once it is a second long.
    await sleep(1100)
    const overview = await admin.done<Overview>('GET', '/overview')
    const { last_minute: minute, last_hour: hour, ends } = overview
    t.match(minute, { answered: 2, refused: 2, failed: 0, gone: 0 })
    t.strictSame(minute, hour)
    t.ok(minute.p50_ms! > 0 && minute.p50_ms! <= minute.p95_ms!)
    t.strictSame(
      overview.statuses.map(({ status, counts }) => [status, sum(counts)]),
      [
        [200, 2],
        [401, 1],
        [422, 1],
      ],
    )
    const codes = overview.codes.map(({ code, counts }) => [code, sum(counts)])
    t.strictSame(Object.fromEntries(codes), { invalid_request: 1, invalid_api_key: 1 })
    t.ok(Math.abs(Date.parse(ends.at(-1)!) - Date.now()) < 5000)
    const columns = [overview.p50_ms, overview.waiting_at_end, overview.cache_hits]
    for (const column of columns) t.equal(column.length, ends.length)

    const metrics = readPrometheus(await (await fetch(`${url}/metrics`)).text())
    const { samples } = metrics.get('oi_http_refusals_total')!
    t.strictSame(Object.fromEntries(samples), {
      'oi_http_refusals_total{code="invalid_request"}': 1,
      'oi_http_refusals_total{code="invalid_api_key"}': 1,
    })
  }),
)
