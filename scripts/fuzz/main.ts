/**
 * `npm run fuzz -- --requests N`: sends a server what nobody should, and sees that it goes on.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError, wholeNumber } from '../command.js'
import { fuzz, type FuzzReport } from './fuzz.js'
import { givenTarget, startTarget, type Target } from './target.js'

const usage = `Usage: npm run fuzz -- [options]

  --requests N      number of requests (default 10,000)
  --seed N          seed of the requests (default: a new one each time, which is printed)
  --from N          number of the first request (default 0); with --requests 1: only that one
  --connections N   concurrent connections (default 32)
  --forms           only bodies that are compressed, multipart, or have pictures
  --out DIR         folder for the bytes of failed requests (default build/fuzz)
  --url URL         a running server, by plain HTTP (default: one is started, over an engine that
                    answers at once)
  --key KEY         a key of its, of a workspace without limits (default OI_KEY)

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

/** Before that, memory grows as code is compiled and pools are filled. */
const settledRequests = 100_000
/** Over the second half of a run: of 100,000 requests, 42 bytes of the heap each. */
const mostGrowthMiB = { heap: 2, resident: 64 }

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      from: { type: 'string', default: '0' },
      connections: { type: 'string', default: '32' },
      forms: { type: 'boolean', default: false },
      out: { type: 'string', default: join('build', 'fuzz') },
      url: { type: 'string' },
      key: { type: 'string', default: process.env['OI_KEY'] ?? '' },
    },
  })
  const options = {
    seed: wholeNumber('seed', values.seed, 0),
    from: wholeNumber('from', values.from, 0),
    requests: wholeNumber('requests', values.requests, 1),
    connections: wholeNumber('connections', values.connections, 1),
    forms: values.forms,
  }
  const given = values.url === undefined ? undefined : targetOf(values.url, values.key)
  await using target = given ?? (await startTarget())
  console.log(`seed ${options.seed}`)
  const report = await fuzz(target, {
    ...options,
    onProgress: (now) => console.error(lineOf(now)),
  })
  const again = `--seed ${options.seed}${options.forms ? ' --forms' : ''}`
  save(report, options.seed, again, values.out)
  console.log(lineOf(report))
  const grown = growthOf(report)
  if (grown !== undefined) console.log(grown)
  return report.failures.length > 0 || grown !== undefined ? 1 : 0
}

function targetOf(text: string, key: string): Target {
  if (!URL.canParse(text) || new URL(text).protocol !== 'http:') {
    throw new UsageError('--url: expected an address as http://127.0.0.1:8080')
  }
  if (key === '') throw new UsageError('--key: expected a key of the server')
  return givenTarget(new URL(text), key)
}

/**
 * As `1,000 requests in 2 s (500/s): 200 31 %, 422 60 %, …; 0 failures; 30.1 (280) to 30.4 (291)
 * MiB`: of the heap, and resident.
 */
function lineOf({ requests, seconds, statuses, failures, held }: FuzzReport): string {
  const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 })
  const replies = [...statuses].sort(([a], [b]) => a - b)
  const all = replies.reduce((sum, [, count]) => sum + count, 0)
  const shares = replies.map(([status, count]) => `${status} ${number((count / all) * 100)} %`)
  const mib = (bytes: number) => number(bytes / 2 ** 20)
  const memory = held?.map(({ heap, resident }) => `${mib(heap)} (${mib(resident)})`).join(' to ')
  return (
    `${number(requests)} requests in ${number(seconds)} s (${number(requests / seconds)}/s): ` +
    `${shares.join(', ')}; ${failures.length} failures` +
    (memory === undefined ? '' : `; ${memory} MiB`)
  )
}

function growthOf({ requests, held }: FuzzReport): string | undefined {
  if (held === undefined || requests < settledRequests) return undefined
  const [early, late] = held
  for (const kind of ['heap', 'resident'] as const) {
    const grown = (late[kind] - early[kind]) / 2 ** 20
    if (grown > mostGrowthMiB[kind]) {
      return `${kind} memory grew by ${grown.toFixed(1)} MiB, more than ${mostGrowthMiB[kind]}`
    }
  }
  return undefined
}

function save({ failures }: FuzzReport, seed: number, again: string, dir: string): void {
  if (failures.length > 0) mkdirSync(dir, { recursive: true })
  for (const { index, wrong, bytes } of failures) {
    const path = join(dir, `failure-${seed}-${index}.bin`)
    writeFileSync(path, bytes)
    console.log(`${index}: ${wrong}\n  ${path}; again with ${again} --from ${index} --requests 1`)
  }
}
