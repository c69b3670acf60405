/** What keeps a tree from being released, and that this one cannot be packed by mistake. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { complaints, type Tree } from '../../scripts/release/complaints.js'

const json = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = json('package.json') as Tree['manifest']
const lock = json('package-lock.json') as Tree['lock']
const clean: Tree = { status: '', changelog: `# Log\n\n## ${manifest.version}\n`, manifest, lock }

t.test(
  'this project’s versions are those of its lock file, and exact where code is compiled',
  async (t) => {
    t.strictSame(complaints(clean), [])
  },
)

t.test('each fault is named', async (t) => {
  t.match(complaints({ ...clean, status: ' M README.md' }), [/not clean:\n M README\.md/])
  t.match(complaints({ ...clean, changelog: '## 0.1.0 (unreleased)' }), [/got "## 0\.1\.0 \(unr/])
  t.match(complaints({ ...clean, lock: { version: '0.0.9' } }), [/of version 0\.0\.9, expected/])
  const dependencies = { ...manifest.dependencies, sharp: '^0.35.5' }
  t.match(complaints({ ...clean, manifest: { ...manifest, dependencies } }), [/sharp, got \^0\.35/])
})

t.test('the tree itself cannot be packed', async (t) => {
  const packed = spawnSync('npm', ['pack', '--dry-run'], { cwd: root, encoding: 'utf8' })
  t.not(packed.status, 0)
  t.match(packed.stderr, /npm run package/)
})
