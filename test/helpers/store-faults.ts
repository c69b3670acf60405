/**
 * Faults of the accounts of a running server, made for real: another process holds a lock, pages
 * are overwritten, the file is moved away or replaced, the disk is full.
 */
import { spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { root } from '../../scripts/build/paths.js'

export interface StoreFault {
  readonly name: string
  /** Whether the fault needs its own disk. */
  readonly ownDisk: boolean
  /** @returns A function that ends the fault. */
  begin(dataDir: string): Promise<() => void>
}

const fileOf = (dataDir: string) => join(dataDir, 'accounts.db')

export const storeFaults: readonly StoreFault[] = [
  { name: 'another process holds the lock', ownDisk: false, begin: lock },
  { name: 'the file is moved away', ownDisk: false, begin: moveAway },
  { name: 'pages are overwritten', ownDisk: false, begin: overwrite },
  { name: 'the disk is full', ownDisk: true, begin: fill },
  { name: 'a copy takes its place', ownDisk: false, begin: replace },
]

/** Holds `BEGIN IMMEDIATE` in another process. @returns A function that ends it. */
export async function lock(dataDir: string): Promise<() => void> {
  const script = `
    const Sqlite = require('better-sqlite3')
    const db = new Sqlite(${JSON.stringify(fileOf(dataDir))})
    db.exec('BEGIN IMMEDIATE')
    console.log('locked')
    process.stdin.on('end', () => { db.exec('ROLLBACK'); db.close() }).resume()`
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: root,
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return () => child.stdin.end()
}

async function moveAway(dataDir: string) {
  const file = fileOf(dataDir)
  renameSync(file, `${file}.away`)
  return () => renameSync(`${file}.away`, file)
}

/** Overwrites all pages but the first; then another connection commits to that page. */
async function overwrite(dataDir: string) {
  const file = fileOf(dataDir)
  const db = new Sqlite(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const before = readFileSync(file)
  const pageSize = db.pragma('page_size', { simple: true }) as number
  const writeFrom = (bytes: Uint8Array) => {
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, bytes, 0, bytes.length, pageSize)
    closeSync(descriptor)
  }
  writeFrom(Buffer.alloc(before.length - pageSize, 0xff))
  db.pragma(`application_id = ${before.length}`)
  // Kept open: closing a file drops the locks that its process has on it.
  return () => {
    writeFrom(before.subarray(pageSize))
    db.close()
  }
}

async function fill(dataDir: string) {
  const path = join(dataDir, 'filler')
  const descriptor = openSync(path, 'w')
  const { bavail, bsize } = statfsSync(dataDir)
  const piece = Buffer.alloc(bsize)
  for (let i = 0; i <= bavail; i++) {
    try {
      writeSync(descriptor, piece)
    } catch {
      break
    }
  }
  if (fstatSync(descriptor).size === 0) throw new Error('nothing was filled')
  closeSync(descriptor)
  return () => unlinkSync(path)
}

/** Replaces the file by a copy, as a restored backup would; later the first file comes back. */
async function replace(dataDir: string) {
  const file = fileOf(dataDir)
  const db = new Sqlite(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  copyFileSync(file, `${file}.copy`)
  renameSync(file, `${file}.away`)
  renameSync(`${file}.copy`, file)
  return () => renameSync(`${file}.away`, file)
}
