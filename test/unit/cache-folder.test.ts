/** Folders of states, one per model and build. */
import t from 'tap'
import { chmodSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, makeCacheFolder } from '../../src/models/cache-folder.js'

const owner = {
  digest: `sha256:0123456789abcdef${'0'.repeat(48)}`,
  llamaCommit: 'de3ff815ea7d559ee917f063901b8986f038abc6',
  cacheType: 'f16',
  flashAttention: 'auto',
  kernels: 'auto',
}

t.test(
  'weights, projector, build, cell type, kind of attention and kernels name the folder',
  async (t) => {
    t.equal(cacheFolder('states', owner), join('states', '0123456789abcdef-de3ff815-f16-auto-auto'))
    for (const change of [
      { digest: `sha256:${'f'.repeat(64)}` },
      { projectorDigest: `sha256:${'f'.repeat(64)}` },
      { llamaCommit: '0'.repeat(40) },
      { cacheType: 'bf16' },
      { flashAttention: 'off' },
      { kernels: 'off' },
    ]) {
      t.not(cacheFolder('states', { ...owner, ...change }), cacheFolder('states', owner))
    }
  },
)

t.test('only its owner can read the folder', async (t) => {
  const folder = makeCacheFolder(join(t.testdir(), 'a'), owner)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.equal(makeCacheFolder(join(folder, '..'), owner), folder, 'and may be there already')
})

t.test('a folder that cannot be made is refused', async (t) => {
  const file = join(t.testdir(), 'file')
  writeFileSync(file, '')
  t.throws(() => makeCacheFolder(file, owner), {
    code: 'ERR_INVALID_ARGUMENT',
    message: /^diskCacheDir: /,
  })
  t.throws(() => makeCacheFolder(join(file, '..', 'disk', 'states'), owner), {
    code: 'ERR_INVALID_ARGUMENT',
    message: /^diskCacheDir: There is no folder .*\/disk: /,
  })
})

t.test('a folder that others could exchange is refused by name', async (t) => {
  const dir = t.testdir({ open: {}, real: {} })
  chmodSync(join(dir, 'open'), 0o777)
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  for (const [name, message] of [
    ['open', /diskCacheDir: .*open: others may write to it \(mode 777\)/],
    ['link', /diskCacheDir: .*link: expected a folder, and no link/],
  ] as const) {
    t.throws(() => makeCacheFolder(join(dir, name), owner), {
      code: 'ERR_INVALID_ARGUMENT',
      message,
    })
  }
  t.ok(makeCacheFolder(join(dir, 'open', 'below'), owner), 'but one in it is its own')
})
