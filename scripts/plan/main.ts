/**
 * `npm run plan`: how many nodes a load takes, by simulation (simulate.ts), and what the ledger gets.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { print } from '../../src/terminal/print.js'
import { textTable } from '../../src/terminal/text-table.js'
import { runCommand, UsageError } from '../command.js'
import { type Balancer, type Load, type Node, nodesFor, simulate } from './simulate.js'

/** The measured rows of the guide: scripts/bench/README.md, "On a GPU". */
const defaults = {
  decisions: '1000000',
  questions: '5',
  'question-tokens': '40',
  'state-tokens': '500',
  states: '300000',
  skew: '1',
  'tokens-per-second': '53000',
  'cache-tokens': '2000000',
  bound: '1.5',
  busy: '0.7',
  paid: '0',
}

const usage = `Usage: npm run plan -- [options]

  --decisions N          answers a second (${defaults.decisions})
  --questions N          of a request (${defaults.questions})
  --question-tokens N    of a question with its options (${defaults['question-tokens']})
  --state-tokens N       of a state (${defaults['state-tokens']})
  --states N             different states (${defaults.states})
  --skew X               the n-th state is asked about with a weight of 1 / n^X (${defaults.skew})
  --tokens-per-second N  that a node evaluates (${defaults['tokens-per-second']}: a 4B model on an H200, as measured)
  --cache-tokens N       of states that a node keeps (${defaults['cache-tokens']})
  --bound X              most of its share that a node has by affinity (${defaults.bound})
  --busy X               most of a node's time (${defaults.busy})
  --paid X               part of the requests that are paid from a balance (${defaults.paid})
`

/** Of a row of the ledger in PostgreSQL with its indexes, bytes: measured on 400,000 of them. */
const rowBytes = 185

interface Row {
  readonly balancer: string
  readonly nodes: number
  readonly cached: number
  readonly busy: number
  readonly p50: number
  readonly p99: number
}

const columns = {
  balancer: ({ balancer }: Row) => balancer,
  nodes: ({ nodes }: Row) => nodes.toLocaleString('en-US'),
  'cached tokens': ({ cached }: Row) => `${(100 * cached).toFixed(1)} %`,
  busy: ({ busy }: Row) => `${(100 * busy).toFixed(0)} %`,
  'median ms': ({ p50 }: Row) => p50.toFixed(1),
  'p99 ms': ({ p99 }: Row) => p99.toFixed(1),
}

await runCommand(usage, async () => {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: 'string' as const, default: value },
    ]),
  )
  const values = parseArgs({ options }).values as Readonly<Record<keyof typeof defaults, string>>
  for (const [name, text] of Object.entries(values)) {
    const value = Number(text)
    const mayBeZero = name === 'paid' || name === 'skew'
    if (Number.isFinite(value) && (value > 0 || (value === 0 && mayBeZero))) continue
    throw new UsageError(`--${name}: expected a number above 0`)
  }
  const number = (name: keyof typeof defaults) => Number(values[name])
  const load: Load = {
    requests: number('decisions') / number('questions'),
    questions: number('questions'),
    questionTokens: number('question-tokens'),
    stateTokens: number('state-tokens'),
    states: number('states'),
    skew: number('skew'),
    bound: number('bound'),
  }
  const node: Node = {
    tokensPerSecond: number('tokens-per-second'),
    cacheTokens: number('cache-tokens'),
  }
  const rows: Row[] = []
  for (const balancer of ['turn', 'affinity'] as const) {
    const nodes = nodesFor(load, node, balancer, number('busy'))
    rows.push(rowOf(balancer, load, node, nodes, false), rowOf(balancer, load, node, nodes, true))
  }
  print(`${textTable(rows, columns).lines.join('\n')}\n\n`)
  const paid = load.requests * number('paid')
  const perDay = paid * 86_400 * rowBytes
  print(
    `Requests: ${load.requests.toLocaleString('en-US')} a second. The ledger gets ` +
      `${paid.toLocaleString('en-US')} rows a second, ${(perDay / 1e9).toFixed(1)} GB a day; ` +
      `the others are in sums, a row an hour for each key and model.\n`,
  )
  return 0
})

function rowOf(balancer: Balancer, load: Load, node: Node, nodes: number, lost: boolean): Row {
  const { cachedShare, utilization, p50Ms, p99Ms } = simulate(load, node, nodes, balancer, lost)
  const name = balancer === 'turn' ? 'in turn' : 'by x-oi-affinity'
  return {
    balancer: lost ? '  one lost' : name,
    ...{ nodes, cached: cachedShare, busy: utilization, p50: p50Ms, p99: p99Ms },
  }
}
