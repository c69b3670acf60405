/**
 * States on disk: which survive, their limits, and which are not trusted.
 *
 * Needs the built addon and the fixtures. Closing an engine writes everything it holds.
 */
import t from 'tap'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { files, options, session, state } from '../helpers/disk-states.js'
import { withEngine } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'
import { until } from '../helpers/until.js'

for (const name of ['dense', 'hybrid'] as const) {
  t.test(`${name}: known states are known after a restart`, async (t) => {
    const dir = join(t.testdir({}), 'made', 'by', 'the', 'engine')
    const before = await session(dir, [1, 2], {}, name)
    t.same([before.stats.diskHits, before.stats.missed], [0, 2])
    t.equal(files(dir).length, 2)
    // One in each engine: where reading one stood still, the next would be evaluated instead.
    for (const [i, id] of [1, 2].entries()) {
      const { answers, stats } = await session(dir, [id], {}, name)
      const { logits, cachedTokens, prefixTokens } = answers[0]!
      t.equal(cachedTokens, prefixTokens)
      t.ok(relativeError(logits, before.answers[i]!.logits) < 1e-3)
      t.equal(stats.diskHits, 1)
      t.equal(stats.diskCachedTokens, prefixTokens)
      t.equal(stats.diskPrefixes, 2)
      t.ok(stats.diskBytes > 0 && stats.diskBytes <= stats.diskBytesLimit)
      t.equal(files(dir).length, 2, 'nothing is written twice')
    }
  })
}

t.test(
  'its bytes are bounded, also in a folder that held more, and the last used stay',
  async (t) => {
    const dir = join(t.testdir({}), 'states')
    await session(dir, [1])
    const bytes = readFileSync(join(dir, files(dir)[0]!)).length
    await session(dir, [2, 3, 4, 5, 6], { diskCacheBytes: Math.floor(bytes * 3.5) })
    t.equal(files(dir).length, 3)
    const { stats } = await session(dir, [], { diskCacheBytes: Math.floor(bytes * 2.5) })
    t.ok(stats.diskBytes <= stats.diskBytesLimit, `${stats.diskBytes} bytes`)
    t.equal(files(dir).length, 2)
    for (const [id, hits] of [
      [5, 1],
      [6, 1],
      [3, 0],
    ] as const) {
      t.equal((await session(dir, [id])).stats.diskHits, hits, `state ${id}`)
    }
  },
)

t.test('damaged, truncated and foreign files are not trusted', async (t) => {
  const dir = join(t.testdir({}), 'states')
  const ids = [1, 2, 3, 4]
  const before = await session(dir, ids)
  const [a, b, c, d] = files(dir).map((name) => join(dir, name)) as [string, string, string, string]
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    const i = at < 0 ? bytes.length + at : at
    bytes[i]! ^= 1
    writeFileSync(path, bytes)
  }
  flip(a, -1000) // the state
  flip(b, 60) // its tokens
  truncateSync(c, 1000)
  flip(d, 0) // the magic
  writeFileSync(join(dir, 'foreign.state'), 'something else')
  writeFileSync(join(dir, 'empty.state'), '')
  writeFileSync(join(dir, 'killed.part'), 'half of a state')
  writeFileSync(join(dir, 'notes.txt'), 'not ours')
  mkdirSync(join(dir, 'folder'))
  const after = await session(dir, ids)
  for (const [i, { logits, cachedTokens }] of after.answers.entries()) {
    t.ok(relativeError(logits, before.answers[i]!.logits) < 1e-3)
    t.ok(cachedTokens < 16, 'nothing of them was used')
  }
  t.equal(after.stats.diskHits, 0)
  const left = readdirSync(dir)
  for (const name of ['foreign.state', 'empty.state', 'killed.part']) t.notOk(left.includes(name))
  t.ok(left.includes('notes.txt') && left.includes('folder'), 'what is not ours is left alone')
  // One in each engine: where reading one stood still, the next would be evaluated instead.
  for (const id of ids) {
    t.equal((await session(dir, [id])).stats.diskHits, 1, 'and written anew')
  }
})

t.test('a state of another model is not trusted', async (t) => {
  const dir = join(t.testdir({}), 'states')
  await session(dir, [1], {}, 'small')
  const alone = await session(join(dir, '..', 'other'), [1], {}, 'dense')
  const mixed = await session(dir, [1], {}, 'dense')
  t.ok(relativeError(mixed.answers[0]!.logits, alone.answers[0]!.logits) < 1e-3)
})

t.test('a file that was replaced while the engine ran is not trusted', async (t) => {
  const dir = join(t.testdir({}), 'states')
  const before = await session(dir, [1, 2])
  await withEngine('dense', { ...options, diskCacheDir: dir }, async (engine) => {
    const [a, b] = files(dir).map((name) => join(dir, name)) as [string, string]
    const first = readFileSync(a)
    cpSync(b, a)
    writeFileSync(b, first)
    for (const id of [1, 2]) {
      const { logits } = await engine.score(state(id))
      const error = relativeError(logits, before.answers[id - 1]!.logits)
      t.ok(error < 1e-3, String(error))
    }
  })
})

t.test('a file is named by the SHA-256 of its scope and its tokens', async (t) => {
  const dir = join(t.testdir({}), 'states')
  await session(dir, [1])
  const [name] = files(dir) as [string]
  const bytes = readFileSync(join(dir, name))
  const [scopeBytes, tokens] = [8, 16].map((at) => Number(bytes.readBigUInt64LE(at)))
  const scope = bytes.subarray(48, 48 + scopeBytes!)
  t.equal(scope.toString(), 'workspace 0')
  const key = [bytes.subarray(8, 16), bytes.subarray(48, 48 + scopeBytes! + 4 * tokens!)]
  t.equal(name, `${createHash('sha256').update(Buffer.concat(key)).digest('hex')}.state`)
})

t.test('a damaged file is deleted when it is read, and not requested again', async (t) => {
  const dir = join(t.testdir({}), 'states')
  await session(dir, [1])
  const path = join(dir, files(dir)[0]!)
  await withEngine('dense', { ...options, diskCacheDir: dir }, async (engine) => {
    const bytes = readFileSync(path)
    bytes[bytes.length - 1000]! ^= 1
    writeFileSync(path, bytes)
    const { cachedTokens } = await engine.score(state(1))
    t.ok(cachedTokens < 16)
    await until(() => !existsSync(path))
    t.same([engine.stats().diskPrefixes, engine.stats().diskHits], [0, 0])
  })
})

t.test('an unusable folder is refused by name', async (t) => {
  const dir = t.testdir({ file: 'not a folder' })
  const refused = { code: 'ERR_INVALID_ARGUMENT', message: /diskCacheDir/ }
  for (const folder of [join(dir, 'file'), join(dir, 'file', 'below')]) {
    await t.rejects(session(folder, []), refused)
  }
})

// Root may write everywhere but in /proc.
const onlyLinux = process.platform === 'linux' ? false : 'needs /proc'
t.test('a read-only folder is refused', { skip: onlyLinux }, async (t) => {
  const outcome = await session('/proc', []).then(
    () => 'opened',
    (error: { code: string }) => error.code,
  )
  t.equal(outcome, 'ERR_INVALID_ARGUMENT')
})

t.test('states go to disk also without a host tier', async (t) => {
  const dir = join(t.testdir({}), 'states')
  await session(dir, [1], { hostCacheBytes: 0 })
  t.equal(files(dir).length, 1)
})

t.test('a state that leaves and returns is kept in RAM once', (t) =>
  withEngine(
    'small',
    { ...options, hostCacheBytes: 2 ** 26, diskCacheDir: join(t.testdir({}), 'states') },
    async (engine) => {
      for (let round = 0; round < 4; round++) {
        for (const id of [1, 2]) await engine.score(state(id))
      }
      const { hostPrefixes, hostHits } = engine.stats()
      t.ok(hostHits > 0, 'they left the context and came back')
      t.ok(hostPrefixes <= 2, `${hostPrefixes} states of 2`)
    },
  ),
)
