/** The counters of what an engine does at the moment. */
import t from 'tap'
import { unique, withEngine } from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const options = { contextTokens: 1024, threads: 1, maxBacklogMs: 2 ** 31 }

t.test('requests of the present step are running, and their cells are not idle', (t) =>
  withEngine('small', options, async (engine) => {
    await engine.score(unique('kept', 60, 1))
    const kept = engine.stats().deviceCellsIdle
    const asked = Promise.all(['a', 'b', 'c'].map((text) => engine.score(unique(text, 250, 8))))
    await until(() => {
      const { runningRequests, deviceCellsUsed, deviceCellsIdle } = engine.stats()
      return runningRequests > 0 && deviceCellsUsed > deviceCellsIdle
    })
    const { runningRequests, queuedRequests } = engine.stats()
    t.ok(runningRequests <= queuedRequests)
    await asked
    const rest = engine.stats()
    t.equal(rest.runningRequests, 0)
    t.ok(kept > 0)
    t.equal(rest.deviceCellsIdle, rest.deviceCellsUsed)
  }),
)
