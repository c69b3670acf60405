/**
 * What keeping a state on a node saves: one node, three in turn and three by `x-oi-affinity`, each of
 * one thread, behind HAProxy with the file that operators copy: `npm run test:fleet`.
 *
 * The three have no more cores here than the machine: their decisions a second only have to be more
 * than in turn.
 */
import t, { type Test } from 'tap'
import { prepareRequest } from '../../scripts/bench/connection.js'
import { closedLoop, eachOf } from '../../scripts/bench/load.js'
import { median } from '../../scripts/bench/stats.js'
import { randomText } from '../../scripts/bench/texts.js'
import { affinityHeader, affinityOf } from '../../src/client/affinity.js'
import { fixturePath } from '../helpers/fixture.js'
import { sameServers, startHaproxy } from '../helpers/nodes.js'
import { findProxy } from '../helpers/proxies.js'
import { createRandom } from '../helpers/random.js'

const skip =
  process.env['OI_TEST_FLEET'] === undefined
    ? 'npm run test:fleet'
    : !findProxy('haproxy') && 'haproxy is missing'
const rounds = 5
const clients = 8
const random = createRandom(Date.now())
/** About 480 tokens each; a node's caches hold all of them. */
const states = Array.from({ length: 120 }, (_, i) => `Report ${i}: ${randomText(450, random.next)}`)
/** The same for all, so that they differ only in the node. */
const order = Array.from({ length: 720 }, () => random.pick(states))
const questions = { money: { type: 'noul', instructions: 'Is it about money?' } }

interface Figures {
  readonly decisionsPerSecond: number
  /** Of all tokens of the states and questions. */
  readonly cachedShare: number
  readonly tokensOfRequest: number
}

async function measure(t: Test, nodes: number, byState: boolean): Promise<Figures> {
  const { ports, key } = await sameServers(
    t,
    nodes,
    () => ({
      model: 'real',
      args: ['--model', modelPath, '--threads', '1', '--log', 'off'],
    }),
    (accounts) =>
      accounts.terms.setLimits(accounts.workspaces.get('default').id, {
        ...{ requestsPerMinute: 0, concurrent: 0 },
      }),
  )
  const port = await startHaproxy(
    t,
    ports.map((port) => ({ host: '127.0.0.1', port })),
  )
  const prepare = (state: string) => {
    const plain = prepareRequest(key, JSON.stringify({ state, questions })).toString()
    const header = byState ? `${affinityHeader}: ${affinityOf(state)}\r\n` : ''
    return Buffer.from(plain.replace('\r\n', `\r\n${header}`))
  }
  const load = (all: readonly string[], onReply?: Parameters<typeof closedLoop>[0]['onReply']) =>
    closedLoop({
      ...{ port, connections: clients, next: eachOf(all.map(prepare)) },
      ...(onReply && { onReply }),
    })
  await load(Array.from({ length: 24 }, (_, i) => `Warm ${i}`))
  let [cached, input] = [0, 0]
  const { failures, requestsPerSecond } = await load(order, ({ head, body }) => {
    cached += Number(/^x-oi-cached-tokens: (\d+)/m.exec(head)?.[1])
    const { usage } = JSON.parse(body.toString()) as { usage: { input_tokens: number } }
    input += usage.input_tokens
  })
  t.equal(failures, 0)
  return {
    decisionsPerSecond: requestsPerSecond,
    cachedShare: cached / input,
    tokensOfRequest: input / order.length,
  }
}

const modelPath = skip === false ? await fixturePath('small') : ''

t.test(
  'a state that is kept on a node is cached there as on a single node, and answered sooner than in turn',
  { skip, timeout: 900_000 },
  async (t) => {
    const subjects = [
      { name: 'one node', nodes: 1, byState: false },
      { name: 'three in turn', nodes: 3, byState: false },
      { name: 'three by affinity', nodes: 3, byState: true },
    ]
    const found = new Map<string, Figures[]>(subjects.map(({ name }) => [name, []]))
    for (let round = 0; round < rounds; round++) {
      for (const { name, nodes, byState } of subjects) {
        // Each with processes of its own, which end before the next ones start.
        await t.test(`${name}, round ${round + 1}`, async (t) => {
          found.get(name)!.push(await measure(t, nodes, byState))
        })
      }
    }
    const of = (name: string, figure: keyof Figures) =>
      median(found.get(name)!.map((figures) => figures[figure]))
    const tokens = of('one node', 'tokensOfRequest')
    t.comment(`${states.length} states, ${tokens.toFixed(0)} tokens a request`)
    for (const { name } of subjects) {
      const [share, rate] = [of(name, 'cachedShare'), of(name, 'decisionsPerSecond')]
      t.comment(`${name}: ${share.toFixed(3)} of the tokens cached, ${rate} decisions/s`)
    }
    const [alone, inTurn, kept] = subjects.map(({ name }) => of(name, 'cachedShare'))
    t.ok(Math.abs(kept! / alone! - 1) <= 0.05, 'cached within 5 % of one node')
    t.ok(kept! > inTurn!)
    const faster = of('three by affinity', 'decisionsPerSecond')
    t.ok(faster > of('three in turn', 'decisionsPerSecond'), 'decisions a second')
  },
)
