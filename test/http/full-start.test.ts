/**
 * A start on a full disk: the endurance run once stopped its server while the disk was full, and
 * the next server ended at once, with another reason.
 */
import t from 'tap'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstKey } from '../helpers/data-folder.js'
import { ServerProcess } from '../helpers/server-process.js'
import { noDisk, smallDisk } from '../helpers/small-disk.js'

for (const isFirst of [true, false]) {
  const title = isFirst ? 'for the first time' : 'with accounts that are there'
  t.test(
    `a server that starts on a full disk ${title} waits until there is room`,
    { skip: noDisk },
    async (t) => {
      const disk = smallDisk(t)
      const dataDir = join(disk, 'data')
      if (!isFirst) firstKey(dataDir)
      const filler = join(disk, 'filler')
      fill(filler)
      const starting = ServerProcess.start(t, {
        dataDir,
        onStart: (starting) => {
          starting.child.stderr!.on('data', () => {
            const trouble = /accounts cannot be opened.*(?:disk is full|no space).*trying again/
            if (trouble.test(starting.said)) {
              rmSync(filler, { force: true })
            }
          })
        },
      })
      const server = await starting
      t.equal(await server.status('/readyz'), 200)
      t.equal(await server.stop('SIGINT'), 0)
    },
  )
}

/** Until nothing more fits. */
function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(2 ** 22))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
