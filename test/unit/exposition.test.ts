/** Prometheus' text format. http/metrics.test.ts tests the server's metrics. */
import t from 'tap'
import { exposition } from '../../src/http/metrics/exposition.js'

t.test('each metric has its help, its type and its samples', async (t) => {
  const text = exposition([
    {
      name: 'jobs_total',
      help: 'Jobs',
      kind: 'counter',
      read: () => [
        [{ state: 'done', code: 200 }, 3],
        [{ state: 'lost', code: 0 }, 0.5],
      ],
    },
    { name: 'ready', help: 'Whether', kind: 'gauge', read: () => [[{}, 1]] },
    { name: 'none', help: 'Nothing yet', kind: 'gauge', read: () => [] },
  ])
  t.equal(
    text,
    '# HELP jobs_total Jobs\n# TYPE jobs_total counter\n' +
      'jobs_total{state="done",code="200"} 3\njobs_total{state="lost",code="0"} 0.5\n\n' +
      '# HELP ready Whether\n# TYPE ready gauge\nready 1\n\n' +
      '# HELP none Nothing yet\n# TYPE none gauge\n',
  )
})

t.test('quotes, backslashes and line breaks in texts are escaped', async (t) => {
  const help = 'a\nb \\ "c"'
  const text = exposition([{ name: 'm', help, kind: 'gauge', read: () => [[{ l: help }, 1]] }])
  t.equal(text, '# HELP m a\\nb \\\\ "c"\n# TYPE m gauge\nm{l="a\\nb \\\\ \\"c\\""} 1\n')
})

t.test('a sample appears once: a second would fail the whole scrape', async (t) => {
  const read = () => [1, 2].map((n) => [{ model: 'm' }, n] as const)
  t.match(exposition([{ name: 'm', help: '', kind: 'gauge', read }]), /gauge\nm\{model="m"\} 3\n$/)
})

t.test('non-finite numbers have the names of the format', async (t) => {
  const read = () => [Infinity, -Infinity, NaN, 1e21, 1e-7].map((n, at) => [{ at }, n] as const)
  const lines = exposition([{ name: 'm', help: '', kind: 'gauge', read }])
    .split('\n')
    .slice(2)
  t.strictSame(lines, [
    'm{at="0"} +Inf',
    'm{at="1"} -Inf',
    'm{at="2"} NaN',
    'm{at="3"} 1e+21',
    'm{at="4"} 1e-7',
    '',
  ])
})
