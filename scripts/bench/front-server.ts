/**
 * The whole server over an engine that answers at once, on uWebSockets.js or on node:http, with the
 * same handlers: the difference is the transport. The workspace has limits that are never reached,
 * a balance and a price: everything is counted, charged and booked.
 *
 *     node dist/scripts/bench/front-server.js uws|node [sees]
 *
 * Prints `{"port", "key"}`, and serves until SIGTERM. At SIGUSR2 it collects garbage and prints
 * `{"collection", "heap", "resident"}`: the collection's number, and the bytes in use after it.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Accounts } from '../../src/accounts/accounts.js'
import { createWire } from '../../src/server/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import { Handlers } from '../../src/http/handlers.js'
import { createLogger } from '../../src/http/log/logger.js'
import { Server } from '../../src/http/server.js'
import { WorkspaceAdmission } from '../../src/http/access/workspace-admission.js'
import { createInstantEngine } from './instant-engine.js'

const decider = await createDecider(createInstantEngine({ vision: process.argv[3] === 'sees' }), {
  fileName: 'instant.gguf',
  digest: `sha256:${'0'.repeat(64)}`,
  releaseDate: '2026-01-01',
})

const dataDir = mkdtempSync(join(tmpdir(), 'oi-front-'))
const accounts = new Accounts({ dataDir })
const { secret: key, workspace } = accounts.createFirstKey()!
const { id } = accounts.workspaces.get(workspace)
accounts.terms.setLimits(id, { requestsPerMinute: 1_000_000_000, concurrent: 1_000_000 })
accounts.credits.add(id, 100_000_000_000_000)
accounts.prices.set(decider.card.name, { input: 2_000_000, output: 5_000_000 })
const handlers = new Handlers({
  backend: { state: () => 'ready', decider: () => decider },
  accounts,
  admission: new WorkspaceAdmission({ accounts }),
  wire: createWire(readConfig({})),
  logger: createLogger({ requests: false }, (line) => process.stderr.write(line)),
  maxBodyBytes: 4_194_304,
  deadlineMs: 60_000,
})

const transport = process.argv[2] === 'node' ? 'node' : 'uws'
const { port } = await Server.listen({ handlers, host: '127.0.0.1', port: 0, transport })
process.stdout.write(`${JSON.stringify({ port, key })}\n`)
let collection = 0
process.on('SIGUSR2', () => void tellHeld())
process.once('SIGTERM', () => {
  accounts.close()
  rmSync(dataDir, { recursive: true })
  process.exit(0)
})

async function tellHeld(): Promise<void> {
  // Set here: speed must not be measured under a flag of V8.
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  // Memory behind objects is freed after the collection that finds them dead.
  await setImmediate()
  collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  const held = { collection: ++collection, heap: heapUsed + external, resident: rss }
  process.stdout.write(`${JSON.stringify(held)}\n`)
}
