/**
 * The data folder lies on a small disk, which becomes full.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../kind.js'

const mebibytes = 48

export const disk: Kind = {
  says: 'fills the disk of the data folder (root)',
  lacks: () => (process.getuid?.() === 0 ? undefined : 'the right to mount'),
  prepare: ({ dataDir, upTo }) => {
    const size = `size=${mebibytes}m`
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'oi-faults', dataDir])
    const filler = join(dataDir, 'filler')
    return {
      strike: async () => {
        const stop = performance.now() + upTo(10)
        const piece = Buffer.alloc(65_536)
        while (performance.now() < stop) {
          try {
            writeFileSync(filler, piece, { flag: 'a' })
          } catch {
            await sleep(50) // full, and kept so as other files shrink
          }
        }
        rmSync(filler, { force: true })
      },
      end: () => execFileSync('umount', ['-l', dataDir]),
    }
  },
}
