/** What pickers of Kubernetes read at GET /metrics. */
import t from 'tap'
import { noStats } from '../../src/engine/stats.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { stubDecider, withServer } from '../helpers/stub.js'

t.test('pickers read one sample of what waits, what runs and how full the cache is', async (t) => {
  const engine = (stats: object) => ({ ...noStats(), deviceCells: 1000, ...stats })
  const decider = {
    ...stubDecider(),
    engines: () => [
      {
        model: 'a',
        stats: engine({
          ...{ queuedRequests: 7, runningRequests: 4 },
          ...{ deviceCellsUsed: 900, deviceCellsIdle: 400 },
        }),
      },
      {
        model: 'b',
        stats: engine({ queuedRequests: 1, deviceCellsUsed: 1000, deviceCellsIdle: 1000 }),
      },
      { model: 'without cells', stats: noStats() },
    ],
  }
  await withServer({ decider }, async ({ url }) => {
    const metrics = readPrometheus(await (await fetch(`${url}/metrics`)).text())
    for (const [name, value] of [
      ['vllm:num_requests_waiting', 4],
      ['vllm:num_requests_running', 4],
      ['vllm:kv_cache_usage_perc', 0.5],
    ] as const) {
      const { type, samples } = metrics.get(name)!
      t.equal(type, 'gauge')
      t.strictSame(Object.fromEntries(samples), { [`${name}{model_name="a"}`]: value })
    }
  })
})
