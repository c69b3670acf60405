/**
 * The packages that an application with an embedded model loads: watched in the loader, because an
 * unnecessary import shows in no other way.
 */
import t, { type Test } from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { fixturePath, projectorPath } from '../helpers/fixture.js'

// The library of this checkout needs its own addon; packages are made of another one.
await buildNative(new Set())

const library = new URL('../../src/index.js', import.meta.url).href
const watcher = new URL('../fixtures/watch-imports.js', import.meta.url).href

/** Packages that every use of the library needs. */
const needed = ['@huggingface/jinja', 'typebox', 'typebox/compile']

/** @returns The packages that were loaded while `script` ran; `oi` is the library in it. */
function packagesAskedFor(t: Test, script: string): string[] {
  const file = join(mkdtempSync(join(tmpdir(), 'oi-imports-')), 'imports')
  t.teardown(() => rmSync(dirname(file), { recursive: true }))
  writeFileSync(file, '')
  const text = `import * as oi from ${JSON.stringify(library)}\n${script}`
  const child = spawnSync(
    process.execPath,
    ['--import', watcher, '--input-type=module', '--eval', text],
    // Child processes are watched too.
    {
      encoding: 'utf8',
      env: { ...process.env, OI_TEST_IMPORTS: file, NODE_OPTIONS: `--import ${watcher}` },
    },
  )
  t.equal(child.status, 0, child.stderr)
  return [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))].sort()
}

const decide = `
  await opened.decide({ state: 'It rains.', questions: { wet: { type: 'noul', instructions: 'Wet?' } } })
  await opened.close()
`

t.test('a decision needs no package of the server', async (t) => {
  const script = `const opened = await oi.open({ threads: 1 })\n${decide}`
  t.strictSame(packagesAskedFor(t, script), needed)
})

t.test('nor does a decision in another process', async (t) => {
  const script = `const opened = await oi.open({ threads: 1, isolate: true })\n${decide}`
  t.strictSame(packagesAskedFor(t, script), needed)
})

t.test('the accounts need better-sqlite3 only when they are opened', async (t) => {
  const accounts = JSON.stringify(new URL('../../src/accounts/accounts.js', import.meta.url).href)
  const script = `const { Accounts } = await import(${accounts})\n`
  t.notOk(packagesAskedFor(t, script).includes('better-sqlite3'))
  const dataDir = JSON.stringify(t.testdir())
  const open = `new Accounts({ dataDir: ${dataDir}, busyMs: 0, log() {} }).close()`
  const asked = packagesAskedFor(t, script + open)
  t.ok(asked.includes('better-sqlite3'))
  t.notOk(asked.includes('pg'), 'that of PostgreSQL is loaded with --accounts')
})

t.test('the image decoder is loaded with a model that sees images', async (t) => {
  const options = { model: await fixturePath('dense'), projectorPath: await projectorPath() }
  const text = JSON.stringify({ ...options, contextTokens: 2048, threads: 1 })
  const script = `const opened = await oi.open(${text})\nawait opened.close()`
  t.strictSame(packagesAskedFor(t, script), [...needed, 'sharp'].sort())
})
