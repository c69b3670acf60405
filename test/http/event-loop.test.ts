/** Nothing that may be asked holds the event loop for long: others are answered meanwhile. */
import t from 'tap'
import { createInstantEngine } from '../../scripts/bench/instant-engine.js'
import { createWire } from '../../src/cli/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import { linesType, numbers, postBatch } from '../helpers/batch.js'
import { withServer } from '../helpers/stub.js'

const facts = { fileName: 'fake.gguf', digest: 'sha256:', releaseDate: '2025-01-02' }
const decider = await createDecider(createInstantEngine(), facts)
const wire = createWire(readConfig({}))

const optionsOf = (count: number) => Object.fromEntries(numbers(count).map((i) => [`o${i}`, '']))
const choices = (count: number, options: number) =>
  Object.fromEntries(
    numbers(count).map((i) => [`q${i}`, { type: 'choice', criteria: optionsOf(options) }]),
  )

/** As much as is allowed, of each kind. */
const heavy: Record<string, object | string> = {
  'one request with all options': { requests: [{ state: 's', questions: choices(64, 255) }] },
  'many states with many options': { states: numbers(20), questions: choices(60, 255) },
  'many requests with many options': {
    requests: numbers(256).map((state) => ({ state, questions: choices(6, 200) })),
  },
  'a text of many values': `{"requests":[${'[1,2,3],'.repeat(500_000)}1]}`,
  'a state of many values': `{"requests":[{"state":[${'[1],2,"3",'.repeat(350_000)}4.0],"questions":{"q":{"type":"noul","instructions":"x"}}}]}`,
  'a state of many names': `{"requests":[{"state":{${numbers(250_000)
    .map((i) => `"n${i}":1`)
    .join()}},"questions":{"q":{"type":"noul","instructions":"x"}}}]}`,
  'a long state': { states: ['é"\n'.repeat(700_000)], questions: choices(1, 2) },
}

/**
 * The longest turn of the event loop, in milliseconds of the processor: what a shared machine
 * takes away in between is not the server's. Median over some rounds.
 */
async function longestTurn(use: () => Promise<unknown>): Promise<number> {
  const rounds: number[] = []
  for (let i = 0; i < 3; i++) {
    let [over, longest, last] = [false, 0, process.cpuUsage()]
    const look = () => {
      const { user, system } = process.cpuUsage(last)
      longest = Math.max(longest, (user + system) / 1000)
      last = process.cpuUsage()
      if (!over) setImmediate(look)
    }
    setImmediate(look)
    await use()
    over = true
    rounds.push(longest)
  }
  return rounds.toSorted((a, b) => a - b)[1]!
}

for (const [i, [name, body]] of Object.entries(heavy).entries()) {
  const accept = i % 2 === 0 ? 'application/json' : linesType
  t.test(`${name}, as ${accept}: the event loop goes on`, (t) =>
    withServer({ decider, wire }, async (server) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const held = await longestTurn(async () => {
        await (await postBatch(server, text, { accept })).arrayBuffer()
      })
      t.comment(`${held.toFixed(1)} ms`)
      // What is aimed at is 20 ms. The client is in this process too, and other threads of it
      // are counted; all at once it would be some hundred.
      t.ok(held < 60, `${held} ms`)
    }),
  )
}
