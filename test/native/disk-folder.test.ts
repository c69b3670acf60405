/**
 * The folder of states on disk: who may have made it, who may read it, and what may lie in it.
 *
 * Needs the built addon and the fixtures. Closing an engine writes everything it holds.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { files, options, session, state } from '../helpers/disk-states.js'
import { withEngine } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'

const noPipes = process.platform === 'win32' ? 'needs named pipes' : false
t.test(
  'a pipe or a link in place of a file is no state, and holds up nobody',
  { skip: noPipes },
  async (t) => {
    const dir = t.testdir({ elsewhere: {} })
    const folder = join(dir, 'states')
    const before = await session(folder, [1, 2])
    const [piped, linked] = files(folder).map((name) => join(folder, name)) as [string, string]
    await withEngine('dense', { ...options, diskCacheDir: folder }, async (engine) => {
      rmSync(piped)
      spawnSync('mkfifo', [piped])
      renameSync(linked, join(dir, 'elsewhere', 'linked'))
      symlinkSync(join(dir, 'elsewhere', 'linked'), linked)
      for (const id of [1, 2]) {
        const { logits, cachedTokens } = await engine.score(state(id))
        t.ok(cachedTokens < 16)
        t.ok(relativeError(logits, before.answers[id - 1]!.logits) < 1e-3)
      }
    })
  },
)

t.test('files can be read by their user alone, and so can the folder', async (t) => {
  const folder = join(t.testdir({}), 'states')
  await session(folder, [1])
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const name of files(folder)) t.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
})

t.test('a folder that others may enter, or that is a link, is refused by name', async (t) => {
  const dir = t.testdir({ open: {}, read: {}, real: {} })
  chmodSync(join(dir, 'open'), 0o777)
  chmodSync(join(dir, 'read'), 0o750)
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  for (const [name, why] of [
    ['open', /diskCacheDir: .*open: others may enter it \(mode 777\)/],
    ['read', /diskCacheDir: .*read: others may enter it \(mode 750\)/],
    ['link', /diskCacheDir: .*link: expected a folder, and no link/],
  ] as const) {
    await t.rejects(session(join(dir, name), []), { code: 'ERR_INVALID_ARGUMENT', message: why })
  }
})

const onlyRoot = process.getuid?.() === 0 ? false : 'needs root'
t.test(
  "another user's folder is refused, and another user's file is not read",
  { skip: onlyRoot },
  async (t) => {
    const dir = t.testdir({ theirs: {} })
    const folder = join(dir, 'own')
    await session(folder, [1])
    const [name] = files(folder) as [string]
    chownSync(join(folder, name), 65534, 65534)
    const { answers, stats } = await session(folder, [1])
    t.ok(answers[0]!.cachedTokens < 16)
    t.equal(stats.diskHits, 0)
    chownSync(join(dir, 'theirs'), 65534, 65534)
    await t.rejects(session(join(dir, 'theirs'), []), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /belongs to another user \(65534\)/,
    })
  },
)
