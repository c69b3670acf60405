/**
 * Commands end after their output is written, and report it if it could not be. `oi keys list
 * --json` once ended with 0 after the 64 KiB that a pipe holds.
 */
import t from 'tap'
import Sqlite from 'better-sqlite3'
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { textTable } from '../../src/terminal/text-table.js'
import { firstKey } from '../helpers/data-folder.js'
import { stubScript } from '../helpers/server-process.js'
import { noDisk, smallDisk } from '../helpers/small-disk.js'

const real = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

function start(args: readonly string[], stdio: StdioOptions, model?: string): ChildProcess {
  const env = { ...process.env, ...(model && { OI_TEST_MODEL: model }) }
  return spawn(process.execPath, [model ? stubScript : real, ...args], { stdio, env })
}

function exited(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}

/** A folder of accounts with this many keys. */
function manyKeys(dataDir: string, count: number): string {
  firstKey(dataDir)
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  const insert = db.prepare(
    `INSERT INTO keys (workspace_id, name, hash, last_four, created_ms) VALUES (1, ?, ?, 'abcd', 1)`,
  )
  db.transaction(() => {
    for (let i = 1; i < count; i++) insert.run(`key ${i}`, randomBytes(32))
  })()
  db.close()
  return dataDir
}

t.test('10,000 keys through a pipe that is read slowly are complete', async (t) => {
  const args = ['keys', 'list', '--json', '--data', manyKeys(t.testdir(), 10_000)]
  const child = start(args, ['ignore', 'pipe', 'inherit'])
  const code = exited(child)
  let text = ''
  for await (const piece of child.stdout!) {
    text += piece
    if (text.length < 1_000_000) await sleep(10)
  }
  t.equal(await code, 0)
  t.equal((JSON.parse(text) as unknown[]).length, 10_000)
})

t.test('a table of 10,000 rows is laid out in less than a second', async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ id: String(i), name: `key ${i} 鍵` }))
  const columns = { id: (row: { id: string }) => row.id, name: (row: { name: string }) => row.name }
  const before = process.cpuUsage()
  const { lines } = textTable(rows, columns)
  const { user } = process.cpuUsage(before)
  t.ok(user < 1e6, `${user} µs`)
  t.equal(lines.length, 10_001)
})

// BUG: a write without a reader was an exception, with its stack.
t.test('a reader that stops reading, or never reads, is not a failure', async (t) => {
  const list = ['keys', 'list', '--json', '--data', manyKeys(t.testdir(), 5000)]
  for (const [args, reads] of [
    [list, true],
    [['openapi'], false],
  ] as const) {
    const child = start(args, ['ignore', 'pipe', 'pipe'])
    let errors = ''
    child.stderr!.on('data', (text) => (errors += text))
    if (reads) child.stdout!.once('data', () => child.stdout!.destroy())
    else child.stdout!.destroy()
    t.equal(await exited(child), 0)
    t.equal(errors, '')
  }
})

t.test('unwritable output is a failure with a sentence, for every command', async (t) => {
  const data = ['--data', manyKeys(t.testdir(), 1)]
  for (const args of [
    ['--help'],
    ['--version'],
    ['openapi'],
    ['keys', 'list', ...data],
    ['keys', 'create', ...data],
    ['workspaces', 'list', '--json', ...data],
    ['workspaces', 'usage', 'default', ...data],
    ['models', 'price', ...data],
    ['ask', 'x', '--noul', 'y', '--model', 'x'],
  ]) {
    const model = args[0] === 'ask' ? 'fake' : undefined
    const child = start(args, ['ignore', openSync('/dev/full', 'w'), 'pipe'], model)
    let errors = ''
    child.stderr!.on('data', (text) => (errors += text))
    t.equal(await exited(child), 1, args.join(' '))
    t.match(errors, /oi: standard output cannot be written: ENOSPC/, args.join(' '))
  }
})

t.test('errors that cannot be printed change no exit code', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.equal(await exited(start(['serv'], ['ignore', full, full])), 2)
  t.equal(
    await exited(start(['keys', 'revoke', '9', '--data', t.testdir()], ['ignore', full, full])),
    1,
  )
})

t.test('a disk that becomes full leaves no half-written file', { skip: noDisk }, async (t) => {
  const disk = smallDisk(t, 65_536)
  const keys = manyKeys(t.testdir(), 2000)
  const list = start(
    ['keys', 'list', '--data', keys],
    ['ignore', openSync(join(disk, 'list'), 'w'), 'pipe'],
  )
  let errors = ''
  list.stderr!.on('data', (text) => (errors += text))
  t.equal(await exited(list), 1, 'the disk took a part of it')
  t.match(errors, /ENOSPC/)

  writeFileSync(join(disk, 'list'), '')
  const row =
    '{"state":"x","questions":{"q":{"type":"noul","instructions":"?"}},"expected":{"q":true}}\n'
  const rows = join(t.testdir(), 'rows.jsonl')
  writeFileSync(rows, row.repeat(300))
  writeFileSync(join(disk, 'filler'), Buffer.alloc(57_344))
  for (const [flag, kept] of [
    ['--html', false],
    ['--resume', true],
  ] as const) {
    const path = join(disk, flag.slice(2))
    const child = start(
      ['eval', rows, '--model', 'x', flag, path],
      ['ignore', 'ignore', 'pipe'],
      'fake',
    )
    let said = ''
    child.stderr!.on('data', (text) => (said += text))
    t.equal(await exited(child), 1, flag)
    t.match(said, new RegExp(`^oi: ${flag}.*ENOSPC: no space left on device, write`, 'm'))
    t.notMatch(said, /\n +at /, 'no stack')
    const left = readdirSync(disk).filter((name) => !['list', 'filler'].includes(name))
    t.strictSame(left, kept ? ['resume'] : [])
  }
  t.ok(readFileSync(join(disk, 'resume'), 'utf8').startsWith('{"format":"oi-eval@2"'))
})
