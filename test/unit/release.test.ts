/** Faults that stop a release, and that this tree cannot be packed by mistake. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { billsOf, type Lock, lockOfServer } from '../../scripts/release/bills.js'
import { complaints, type Tree } from '../../scripts/release/complaints.js'
import { readSignatures } from '../../scripts/release/signatures.js'

const json = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = json('package.json') as Tree['manifest']
const lock = json('package-lock.json') as Lock
const clean: Tree = { status: '', changelog: `# Log\n\n## ${manifest.version}\n`, manifest, lock }

t.test(
  'this project’s versions are those of its lock file, and exact for compiled packages',
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

t.test('the server’s package consists of its own parts and the library’s, as tested', async (t) => {
  const { packages } = lockOfServer(lock)
  t.match(packages[''], { name: '@oi-systemone/server', dependencies: { 'oi-systemone': String } })
  for (const name of [
    'better-sqlite3',
    'ioredis',
    'pg',
    'pino',
    'uWebSockets.js',
    'sharp',
    'typebox',
  ]) {
    const { version } = lock.packages[`node_modules/${name}`]!
    t.match(packages[`node_modules/${name}`], { version }, name)
  }
  t.ok(packages['node_modules/@oi-systemone/linux-x64'])
  for (const name of ['typescript', 'tap', 'eslint'])
    t.notOk(packages[`node_modules/${name}`], name)
})

t.test('npm lists both packages with their parts', async (t) => {
  const bills = billsOf(root, lock, (command, args, cwd) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
    t.equal(status, 0, stderr)
    return stdout
  })
  interface Bill {
    readonly metadata: { readonly component: { readonly name: string } }
    readonly components: readonly { readonly name: string; readonly version: string }[]
  }
  const [main, server] = [bills.main, bills.server].map((text) => JSON.parse(text) as Bill)
  const names = (bill: Bill) => bill.components.map(({ name }) => name)
  t.equal(main!.metadata.component.name, 'oi-systemone')
  t.equal(server!.metadata.component.name, '@oi-systemone/server')
  t.ok(names(server!).includes('oi-systemone'))
  t.ok(names(server!).includes('better-sqlite3'))
  t.notOk(names(main!).includes('better-sqlite3'))
  const more = names(main!).filter((name) => !names(server!).includes(name))
  t.strictSame(more, [], 'what the library needs, the server needs')
})

t.test('wrong or missing signatures stop a release', async (t) => {
  const place = { name: 'sharp', version: '0.35.5' }
  t.match(readSignatures(JSON.stringify({ invalid: [place], missing: [] })).complaints, [
    /^sharp@0\.35\.5: .* wrong$/,
  ])
  t.match(readSignatures(JSON.stringify({ invalid: [], missing: [place] })).complaints, [
    /missing$/,
  ])
  t.strictSame(readSignatures('{"invalid":[],"missing":[]}'), {
    complaints: [],
    unchecked: undefined,
  })
})

t.test('missing keys are reported', async (t) => {
  const error = { code: 'ENOTFOUND', summary: 'request failed' }
  t.match(readSignatures(JSON.stringify({ error })), {
    complaints: [],
    unchecked: 'request failed',
  })
  t.ok(readSignatures('').unchecked)
})
