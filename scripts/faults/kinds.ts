/**
 * All kinds of faults, by their names on the command line.
 *
 * @module
 */

import type { Kind } from './kind.js'
import { accounts } from './kinds/accounts.js'
import { admin } from './kinds/admin.js'
import { clock } from './kinds/clock.js'
import { disk } from './kinds/disk.js'
import { file } from './kinds/file.js'
import { garbage } from './kinds/garbage.js'
import { kill } from './kinds/kill.js'
import { log } from './kinds/log.js'
import { leave, slow } from './kinds/networks.js'
import { proxy, retry } from './kinds/proxy.js'
import { restart } from './kinds/restart.js'
import { long, wrong } from './kinds/wrong.js'

export const kinds: Readonly<Record<string, Kind>> = {
  ...{ accounts, admin, clock, disk, file, garbage, kill, leave, log, long },
  ...{ proxy, restart, retry, slow, wrong },
}
