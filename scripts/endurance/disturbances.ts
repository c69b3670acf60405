/**
 * Disturbances of the server's disk, locks and clock while it serves.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'

/** A small file system, which can be filled. Needs the right to mount. */
export class SmallDisk implements Disposable {
  readonly folder: string
  readonly #filler: string

  constructor(folder: string, mebibytes: number) {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'oi-endurance', folder])
    this.folder = folder
    this.#filler = join(folder, 'filler')
  }

  /** Leaves no byte free for `ms` milliseconds. */
  async fill(ms: number): Promise<void> {
    const stop = performance.now() + ms
    const piece = Buffer.alloc(65_536)
    while (performance.now() < stop) {
      try {
        writeFileSync(this.#filler, piece, { flag: 'a' })
      } catch {
        await sleep(50) // full, and kept so as other files shrink
      }
    }
    rmSync(this.#filler, { force: true })
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.folder])
  }
}

/** Holds the accounts' write lock, like another process with a long write. */
export async function holdLock(dataDir: string, ms: number): Promise<void> {
  await withConnection(dataDir, 'BEGIN IMMEDIATE', ms)
}

/** Reads for long, which keeps concurrent writes in the write-ahead log. */
export async function holdReader(dataDir: string, ms: number): Promise<void> {
  await withConnection(dataDir, 'BEGIN; SELECT count(*) FROM keys', ms)
}

async function withConnection(dataDir: string, begin: string, ms: number): Promise<void> {
  const db = new Sqlite(join(dataDir, 'accounts.db'), { timeout: 0 })
  try {
    for (const statement of begin.split('; ')) {
      if (statement.startsWith('SELECT')) db.prepare(statement).all()
      else db.exec(statement)
    }
    await sleep(ms)
    db.exec('ROLLBACK')
  } catch {
    // The server holds it, or the disk is full: the next turn tries again.
  } finally {
    db.close()
  }
}

/** Its path in Debian's package, by Debian's names of machines. */
const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const fakeTimeLibrary = `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`

/**
 * The wall clock of the server, moved by Debian's libfaketime; its monotonic clock is unchanged.
 */
export class MovableClock {
  readonly #file: string

  /** @param file - The file from which the library reads the shift. */
  constructor(file: string) {
    if (!existsSync(fakeTimeLibrary)) {
      throw new Error('There is no libfaketime, to move the clock: apt-get install libfaketime')
    }
    mkdirSync(dirname(file), { recursive: true })
    this.#file = file
    this.move(0)
  }

  /** Environment of the process whose clock it is. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: fakeTimeLibrary,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** @param seconds - Offset from the real time; negative is in the past. */
  move(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`)
  }
}
