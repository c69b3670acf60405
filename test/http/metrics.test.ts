/** GET /metrics: valid text, and the right numbers. */
import t from 'tap'
import { noStats } from '../../src/engine/stats.js'
import { engineMetrics } from '../../src/http/metrics/engine-metrics.js'
import { MetricsHandlers } from '../../src/http/metrics-handlers.js'
import { Server } from '../../src/http/server.js'
import type { RunnerReport } from '../../src/runner/supervision.js'
import { post } from '../helpers/asking.js'
import { numbers, requestsAbout, postBatch } from '../helpers/batch.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, Slow, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const scrape = async (url: string) => readPrometheus(await (await fetch(`${url}/metrics`)).text())

t.test('the content type is that of the format, HEAD is answered, and other methods are not', (t) =>
  withServer({}, async ({ port }) => {
    using client = await RawClient.connect(port)
    client.send(request('HEAD', '/metrics'))
    const head = await client.reply(true)
    t.equal(head.status, 200)
    t.ok(Number(head.headers['content-length']) > 1000)
    t.equal(head.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    client.send(request('POST', '/metrics', {}, 'x'))
    t.match(await client.reply(), { status: 405, headers: { allow: 'GET, HEAD' } })
  }),
)

t.test('names follow the conventions', (t) =>
  withServer({}, async ({ url }) => {
    for (const [name, { type }] of await scrape(url)) {
      if (name.startsWith('oi_')) t.equal(type === 'counter', name.endsWith('_total'), name)
    }
  }),
)

t.test('requests are counted by route and status', (t) =>
  withServer({}, async (server) => {
    for (const body of ['{}', '{}', '{']) await post(server, body)
    await post({ ...server, key: 'oi-wrong' })
    await fetch(`${server.url}/healthz`)
    await fetch(`${server.url}/healthz?x=1`)
    await fetch(`${server.url}/nowhere`)
    await fetch(`${server.url}/elsewhere`)
    await scrape(server.url)
    const { samples } = (await scrape(server.url)).get('oi_http_requests_total')!
    t.strictSame(Object.fromEntries(samples), {
      'oi_http_requests_total{route="/v1/systemone",status="200"}': 2,
      'oi_http_requests_total{route="/v1/systemone",status="422"}': 1,
      'oi_http_requests_total{route="/v1/systemone",status="401"}': 1,
      'oi_http_requests_total{route="/healthz",status="200"}': 2,
      'oi_http_requests_total{route="other",status="404"}': 2,
      'oi_http_requests_total{route="/metrics",status="200"}': 1,
    })
  }),
)

t.test('answered decisions have durations, others have none', (t) =>
  withServer({}, async (server) => {
    const startMs = performance.now()
    await post(server)
    await post(server)
    await post(server, '{')
    const name = 'oi_http_request_duration_seconds'
    const { type, samples } = (await scrape(server.url)).get(name)!
    t.equal(type, 'histogram')
    t.equal(samples.get(`${name}_count`), 2)
    t.equal(samples.get(`${name}_bucket{le="+Inf"}`), 2)
    const sum = samples.get(`${name}_sum`)!
    // Seconds: no more than have passed.
    t.ok(sum > 0 && sum <= (performance.now() - startMs) / 1000, `${sum} s`)
  }),
)

t.test('running requests are shown, and a client that left is counted with status 0', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async ({ url, port, key, handlers }) => {
    const client = await RawClient.connect(port)
    client.send(request('POST', '/v1/systemone', { authorization: `Bearer ${key}` }, '{}'))
    await until(() => slow.signals.length > 0)
    const running = 'oi_http_requests_running'
    t.equal((await scrape(url)).get(running)!.samples.get(running), 1)
    client.socket.destroy()
    await until(() => handlers.running.size === 0)
    const metrics = await scrape(url)
    t.equal(metrics.get(running)!.samples.get(running), 0)
    const left = 'oi_http_requests_total{route="/v1/systemone",status="0"}'
    t.equal(metrics.get('oi_http_requests_total')!.samples.get(left), 1)
  })
})

t.test('every engine is shown with its current counters, in the units of the names', async (t) => {
  let answered = 5
  const decider = {
    ...stubDecider(),
    engines: () => [
      {
        model: 'a',
        stats: {
          ...noStats(),
          answered,
          backlogMs: 1500,
          capacityTokens: 1000,
          evaluatedTokens: 800,
          paddingTokens: 150,
          lostTokens: 50,
          hostBytes: 4096,
        },
      },
      { model: 'b "quoted"', stats: noStats() },
    ],
  }
  await withServer({ decider }, async ({ url }) => {
    await scrape(url)
    answered = 7
    const metrics = await scrape(url)
    for (const [name, sample, value] of [
      ['requests_total', '{model="a",outcome="answered"}', 7],
      ['requests_total', '{model="a",outcome="refused"}', 0],
      ['requests_total', '{model="b \\"quoted\\"",outcome="answered"}', 0],
      ['backlog_seconds', '{model="a"}', 1.5],
      ['batch_fill_ratio', '{model="a"}', 0.8],
      ['useful_work_ratio', '{model="a"}', 0.75],
      ['useful_work_ratio', '{model="b \\"quoted\\""}', 1],
      ['cache_bytes', '{model="a",tier="host"}', 4096],
    ] as const) {
      const full = `oi_engine_${name}`
      t.equal(metrics.get(full)!.samples.get(full + sample), value, full + sample)
    }
  })
})

t.test('every counter of an engine is in some metric', async (t) => {
  const read = new Set<string | symbol>()
  const stats = new Proxy(noStats(), {
    get: (target, name) => {
      read.add(name)
      return target[name as keyof typeof target]
    },
  })
  for (const metric of engineMetrics) metric.read(stats)
  t.strictSame([...read].sort(), Object.keys(noStats()).sort())
})

const report = (model: string, ready: boolean): RunnerReport => ({
  ...{
    model,
    ready,
    retryAfterMs: ready ? 0 : 4000,
    pid: 1,
    restarts: 2,
    askedAgain: 5,
    gaveUp: 1,
  },
  ends: ready ? {} : { SIGABRT: 3, hung: 1 },
  usage: () => (ready ? { residentBytes: 4096, ownBytes: 4096, cpuMs: 1500 } : undefined),
})

t.test('processes of models are shown, and /readyz names models without one', async (t) => {
  let runners = [report('a', true), report('b', false), report('c', false), report('c', true)]
  const backend = {
    state: () => 'ready' as const,
    decider: () => stubDecider(),
    runners: () => runners,
  }
  await withServer({ backend }, async ({ url }) => {
    const metrics = await scrape(url)
    for (const [name, sample, value] of [
      ['oi_runner_up', '{model="a"}', 1],
      ['oi_runner_up', '{model="b"}', 0],
      ['oi_runner_ends_total', '{model="b",cause="SIGABRT"}', 3],
      ['oi_runner_ends_total', '{model="b",cause="hung"}', 1],
      ['oi_runner_restarts_total', '{model="b"}', 2],
      ['oi_requests_asked_again_total', '{model="a"}', 5],
      ['oi_requests_given_up_total', '{model="a"}', 1],
      ['oi_runner_resident_memory_bytes', '{model="a"}', 4096],
      ['oi_runner_resident_memory_bytes', '{model="b"}', undefined],
      ['oi_runner_cpu_seconds_total', '{model="a"}', 1.5],
    ] as const) {
      t.equal(metrics.get(name)!.samples.get(name + sample), value, name + sample)
    }
    const refused = await fetch(`${url}/readyz`)
    t.equal(refused.status, 503)
    // Of several processes of a model, one suffices.
    t.match(await refused.json(), { error: { code: 'overloaded', message: /: b$/ } })
    t.ok(Number(refused.headers.get('retry-after')) >= 4)
    // Of several that are loading again, the first one suffices.
    runners = [{ ...report('b', false), retryAfterMs: 40_000 }, ...runners]
    const sooner = await fetch(`${url}/readyz`)
    t.ok(Number(sooner.headers.get('retry-after')) < 20)
    runners = runners.filter(({ model }) => model !== 'b')
    t.equal((await fetch(`${url}/readyz`)).status, 200)
  })
})

t.test("a scrape reads the statistics of each model's process once", async (t) => {
  let asked = 0
  const counting = { ...report('a', true), usage: () => void asked++ }
  const backend = {
    state: () => 'ready' as const,
    decider: () => stubDecider(),
    runners: () => [counting],
  }
  await withServer({ backend }, async ({ url }) => {
    await scrape(url)
    t.equal(asked, 1)
  })
})

t.test("readiness, versions, and the process' remaining resources are shown", async (t) => {
  let state: 'loading' | 'ready' = 'loading'
  const backend = { state: () => state, decider: () => stubDecider() }
  const machine = { dataDir: t.testdir(), certificateEndMs: () => 1_900_000_000_000 }
  await withServer({ backend, machine }, async (server) => {
    const one = async (name: string) =>
      [...(await scrape(server.url)).get(name)!.samples.values()][0]
    t.equal(await one('oi_ready'), 0)
    state = 'ready'
    t.equal(await one('oi_ready'), 1)
    server.handlers.beginDrain()
    t.equal(await one('oi_ready'), 0)
    t.match(await (await fetch(`${server.url}/readyz`)).text(), /about to shut down/)
    t.equal(await one('oi_tls_certificate_expiry_timestamp_seconds'), 1_900_000_000)
    t.ok((await one('oi_data_folder_free_bytes'))! > 0)
    t.ok((await one('process_open_fds'))! > 3)
    t.ok((await one('process_max_fds'))! >= (await one('process_open_fds'))!)
    const [label] = [...(await scrape(server.url)).get('oi_build_info')!.samples.keys()]
    t.match(label, /\{version="\d+\.\d+\.\d+",node="\d+\./)
  })
})

t.test('an absent value has no number, rather than 0', (t) =>
  withServer({}, async ({ url }) => {
    const metrics = await scrape(url)
    for (const name of [
      'oi_tls_certificate_expiry_timestamp_seconds',
      'oi_data_folder_free_bytes',
      'oi_accounts_failing',
      'oi_trace_spans_total',
    ]) {
      t.equal(metrics.get(name)!.samples.size, 0, name)
    }
  }),
)

t.test('the times of answered decisions are summed up, also of items', (t) =>
  withServer({}, async (server) => {
    await post(server)
    t.equal((await postBatch(server, requestsAbout(numbers(3)))).status, 200)
    const { samples } = (await scrape(server.url)).get('oi_http_phase_seconds_total')!
    const { timings } = decision
    for (const [phase, ms] of Object.entries(timings)) {
      const seconds = samples.get(`oi_http_phase_seconds_total{phase="${phase}"}`)!
      t.ok(Math.abs(seconds - (4 * ms) / 1000) < 1e-9, phase)
    }
  }),
)

t.test('while the model is loaded there are metrics, but none of an engine', (t) => {
  const backend = { state: () => 'loading' as const, decider: () => undefined }
  return withServer({ backend }, async ({ url }) => {
    t.equal((await scrape(url)).get('oi_engine_steps_total')!.samples.size, 0)
  })
})

t.test('with their own address, metrics are there and nowhere else', (t) =>
  withServer({ serveMetrics: false }, async (server) => {
    const handlers = new MetricsHandlers(server.handlers)
    const apart = await Server.listen({ handlers, host: '127.0.0.1', port: 0 })
    try {
      const url = `http://127.0.0.1:${apart.port}`
      t.equal((await fetch(`${server.url}/metrics`)).status, 404)
      await post(server)
      const { samples } = (await scrape(url)).get('oi_http_requests_total')!
      t.equal(samples.get('oi_http_requests_total{route="/v1/systemone",status="200"}'), 1)
      for (const path of ['/healthz', '/v1/models']) t.equal((await fetch(url + path)).status, 404)
    } finally {
      await apart.close(0)
    }
  }),
)
