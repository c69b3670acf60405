/**
 * The whole server at twice its sustainable rate: it answers as many requests as it can in time,
 * refuses the others with the time to come back, and recovers as soon as the load is gone.
 *
 * @module
 */

import { type Bench, measureOnce } from '../bench.js'
import { Connection, prepareRequest, type Reply } from '../connection.js'
import { withVocabulary } from '../engine-load.js'
import { Figures } from '../figure.js'
import { closedLoop, during, openLoop, times } from '../load.js'
import { addMemory, MemoryWatch } from '../memory-watch.js'
import { type OiServer, smallCache, withOiServer } from '../oi-server.js'
import { hasProc } from '../proc.js'
import { Requests } from '../requests.js'
import { median, percentile } from '../stats.js'

const size = { stateTokens: 100, questions: 1, questionTokens: 20 }
const factor = 2
const standardSeconds = 180
/** For the sustainable rate, with enough clients that the model never waits. */
const closedSeconds = 20
const closedClients = 8
/** More than the server lets wait, so that a request always finds a connection. */
const openClients = 512
const deadlineMs = 60_000
const singles = 20
/** Recovered: the median of this many consecutive requests is usual again. */
const recoveredRow = 5
const recoveredFactor = 1.5
const maxRecoveryMs = 1000
/** A server that has not recovered by then does not. */
const recoveryLimitMs = 60_000

export async function overload(bench: Bench): Promise<void> {
  const model = await bench.model()
  await withVocabulary(model.path, async (vocabulary) => {
    const requests = await Requests.create(vocabulary)
    const rounds = await withOiServer(
      model,
      (server) => {
        const make = () => prepareRequest(server.key, JSON.stringify(requests.rough(size)))
        return measureOnce(bench, { name: 'overload', run: () => phases(bench, server, make) })
      },
      ['--deadline-ms', String(deadlineMs), ...smallCache],
    )
    bench.record(figuresOf(new Figures('overload', rounds)), model)
  })
}

function figuresOf(figures: Figures): Figures['all'] {
  figures.add('rate that can be sustained', 'requests/s')
  figures.add('rate offered', 'requests/s')
  figures.add('rate answered', 'requests/s')
  figures.add('answered', 'requests')
  figures.add('refused, with the time to come back', 'requests')
  figures.add('ended otherwise', 'requests', { atMost: 0 })
  figures.add('latency p99 of answered ones', 'ms', { atMost: deadlineMs })
  if (hasProc) addMemory(figures)
  figures.add('one request at a time before, median', 'ms')
  figures.add('one request at a time after, median', 'ms')
  figures.add('recovered after', 'ms', { atMost: maxRecoveryMs })
  return figures.all
}

async function phases(
  { options, note, say }: Bench,
  { port, pid }: OiServer,
  make: () => Buffer,
): Promise<Record<string, number>> {
  const usual = await oneAtATime(port, make, () => true)
  const usualMs = median(usual.map(({ ms }) => ms))

  say('    the rate that can be sustained')
  const closed = await closedLoop({
    ...{ port, connections: closedClients },
    next: during(closedSeconds, make),
  })
  const sustained = (closed.requests / closed.elapsedMs) * 1000

  const offered = factor * sustained
  const seconds = options.seconds ?? standardSeconds
  say(`    ${offered.toPrecision(3)} requests/s for ${seconds} s`)
  const outcomes = new Outcomes()
  using memory = hasProc ? new MemoryWatch(pid) : undefined
  const target = {
    ...{ port, connections: openClients },
    next: times(Math.ceil(offered * seconds), make),
    onReply: (reply: Reply, latencyMs: number) => outcomes.add(reply, latencyMs),
  }
  const { elapsedMs } = await openLoop(target, offered)
  const memoryValues = memory?.values()

  const limitMs = recoveredFactor * usualMs
  const after = await oneAtATime(port, make, (all) => recovery(all, limitMs) !== undefined)
  for (const [status, count] of outcomes.others) note(`overload: ${count} ended with ${status}`)
  return {
    'rate that can be sustained': sustained,
    'rate offered': offered,
    'rate answered': (outcomes.answeredMs.length / elapsedMs) * 1000,
    answered: outcomes.answeredMs.length,
    'refused, with the time to come back': outcomes.refused,
    'ended otherwise': [...outcomes.others.values()].reduce((sum, count) => sum + count, 0),
    'latency p99 of answered ones': percentile(outcomes.answeredMs, 0.99),
    ...memoryValues,
    'one request at a time before, median': usualMs,
    'one request at a time after, median': median(after.map(({ ms }) => ms)),
    'recovered after': (recovery(after, limitMs) ?? after.at(-1)!).begunMs,
  }
}

/** How the requests of the overload ended. */
class Outcomes {
  readonly answeredMs: number[] = []
  refused = 0
  /** Status -> requests; 0 for a broken connection. */
  readonly others = new Map<number, number>()

  add({ status, head }: Reply, latencyMs: number): void {
    const comeBack = head.includes('\r\nretry-after: ')
    if (status === 200) this.answeredMs.push(latencyMs)
    else if (status === 429 || (status === 503 && comeBack)) this.refused++
    else this.others.set(status, (this.others.get(status) ?? 0) + 1)
  }
}

interface Single {
  /** Since the first request. */
  readonly begunMs: number
  readonly ms: number
}

/** The first of several consecutive usual ones. */
function recovery(all: readonly Single[], limitMs: number): Single | undefined {
  return all.find((_, i) => {
    const row = all.slice(i, i + recoveredRow).map(({ ms }) => ms)
    return row.length === recoveredRow && median(row) <= limitMs
  })
}

/** This many requests, and more until they are `enough` or take too long. */
async function oneAtATime(
  port: number,
  make: () => Buffer,
  enough: (all: readonly Single[]) => boolean,
): Promise<Single[]> {
  const all: Single[] = []
  await Connection.withPool(port, 1, async ([connection]) => {
    const startMs = performance.now()
    for (;;) {
      const begunMs = performance.now() - startMs
      if (all.length >= singles && (enough(all) || begunMs > recoveryLimitMs)) return
      const { status } = await connection!.exchange(make())
      // A refusal is fast, but it is no answer.
      const ms = status === 200 ? performance.now() - startMs - begunMs : Infinity
      all.push({ begunMs, ms })
    }
  })
  return all
}
