/**
 * A runner that gets no more memory: its requests are refused, and it goes on.
 *
 * BUG: an exception where a job leaves, or changes the thread, ended the process by std::terminate.
 *
 * Needs the built addon and the `small` and `hybrid` fixtures.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Engine } from '../../src/engine/types.js'
import { openIsolated } from '../../src/runner/isolate.js'
import { fixturePath, outcomeOf, question, unique, user } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'

const skip =
  spawnSync('prlimit', ['--version']).status !== 0 && 'prlimit (util-linux) is not installed'
const options = { contextTokens: 2048, threads: 1, maxForks: 4, maxBacklogMs: 2 ** 31 }

/** glibc gives back what is freed: nothing is left over from before. */
const environment = {
  ...{ MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '0', MALLOC_TOP_PAD_: '0' },
  MALLOC_MMAP_THRESHOLD_: '1024',
}

/** @param more - Bytes that the process may still map; undefined: any. */
function limit(pid: number, more: number | undefined): void {
  const [, kilobytes] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  const bytes = more === undefined ? 'unlimited' : Number(kilobytes) * 1024 + more
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--as=${bytes}:`])
  if (status !== 0) throw new Error(String(stderr))
}

/** Short and long ones, some far too long, some cancelled, and texts to tokenize. */
async function pressed(engine: Engine, round: number): Promise<string[]> {
  const asked: Promise<unknown>[] = []
  for (let i = 0; i < 200; i++) {
    const workspace = i % 7
    const one = unique(`${round} ${i}`, 20 + 7 * (i % 60), 1 + (i % 4))
    const controller = new AbortController()
    asked.push(engine.score(one, { workspace, signal: controller.signal }))
    if (i % 10 === 0) controller.abort()
    if (i % 20 === 0) {
      const prefix = [user('word '.repeat(800_000))]
      asked.push(engine.score({ prefix, suffixes: [question(1)] }, { workspace }))
      asked.push(engine.tokenize([{ text: 'x '.repeat(50_000), trusted: false }]))
    }
  }
  return Promise.all(asked.map((one) => outcomeOf(one)))
}

for (const name of ['small', 'hybrid'] as const) {
  t.test(
    `${name}: without memory, requests are refused, and the process goes on`,
    { skip },
    async (t) => {
      const modelPath = await fixturePath(name)
      const engine = await openIsolated(
        { ...options, modelPath },
        {
          environment,
          events: { ended: ({ cause, lastWords }) => t.fail(`${cause}: ${lastWords}`) },
        },
      )
      t.teardown(() => engine.close())
      const same = unique('same', 300, 3)
      const { logits: right } = await engine.score(same)
      await pressed(engine, 0)
      const pid = engine.pid!
      const seen = new Set<string>()
      for (let round = 1; round <= 12; round++) {
        limit(pid, round % 4 === 0 ? 0 : (round % 4) * (256 << 10))
        const outcomes = await pressed(engine, round)
        for (const outcome of outcomes) seen.add(outcome)
        limit(pid, undefined)
        const { logits } = await engine.score(same)
        t.ok(relativeError(logits, right) < 1e-3, 'and its answers are right')
        t.equal(engine.pid, pid)
      }
      t.strictSame(engine.counts().ends, {})
      t.ok(seen.has('ERR_MODEL_MEMORY'), [...seen].join(', '))
      const known = ['answered', 'ERR_MODEL_MEMORY', 'ERR_OVERLOADED', 'ERR_STATE_TOO_LONG']
      const unknown = [...seen].filter((outcome) => ![...known, 'ERR_ABORTED'].includes(outcome))
      t.strictSame(unknown, [])
      const { queuedRequests, backlogMs } = engine.stats()
      t.strictSame({ queuedRequests, backlogMs }, { queuedRequests: 0, backlogMs: 0 })
    },
  )
}
