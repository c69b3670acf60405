/**
 * The wall clock of the server jumps, by Debian's libfaketime; its monotonic clock is unchanged.
 *
 * @module
 */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../kind.js'

/** Its path in Debian's package, by Debian's names of machines. */
const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const library = `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`
const jumps = [90, 3700, 90_000]

export const clock: Kind = {
  says: 'moves the wall clock by up to a day (libfaketime)',
  lacks: () => (existsSync(library) ? undefined : 'libfaketime: apt-get install libfaketime'),
  prepare: ({ folder, environment, random, upTo }) => {
    const file = join(folder, 'clock')
    const move = (seconds: number) =>
      writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`)
    move(0)
    const loaded = environment['LD_PRELOAD']
    Object.assign(environment, {
      LD_PRELOAD: loaded === undefined ? library : `${loaded}:${library}`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    })
    return {
      strike: async () => {
        move((random.next() < 0.5 ? -1 : 1) * random.pick(jumps))
        await sleep(upTo(15))
        move(0)
      },
    }
  },
}
