/**
 * A server, a proxy in front of it, and clients that know only the proxy.
 *
 * @module
 */

import { join } from 'node:path'
import { createRandom } from '../../test/helpers/random.js'
import { auditBooks, createWorkspace, setPrice, type Workspace } from '../endurance/accounts.js'
import {
  batchClient,
  loop,
  steadyClient,
  type Turn,
  type World,
  wrongBodyClient,
  wrongKeyClient,
} from '../endurance/clients.js'
import { Subject } from '../endurance/subject.js'
import { Tally } from '../endurance/tally.js'
import { plain, startProxy } from './proxy.js'

export interface RunOptions {
  readonly proxy: keyof typeof plain
  readonly folder: string
  readonly requests: number
  readonly clients: number
  readonly seed: number
}

const proxyPort = 18_090
const serverPort = 18_091

/** @returns How many violations there were. */
export async function run({ proxy, folder, requests, clients, seed }: RunOptions): Promise<number> {
  const dataDir = join(folder, 'data')
  const tally = new Tally()
  const subject = new Subject({
    port: serverPort,
    dataDir,
    flags: ['--host-cache-mb', '16'],
    environment: {},
    onUnaskedEnd: (how, log) => tally.violate(`the server ended by itself (${how}):\n${log}`),
  })
  await subject.start()
  const workspace = createWorkspace(dataDir, 'through', true)
  setPrice(dataDir, 'oi-small')
  let left = requests
  const startMs = performance.now()
  {
    const options = { folder, port: proxyPort, serverPort }
    await using child = await startProxy(proxy, plain[proxy], options)
    const random = createRandom(seed)
    const over = () => left <= 0
    const world: World = { port: proxyPort, tally, random, words: 12, over }
    const client = () => {
      const turn = mixedTurn(world, workspace)
      return async () => {
        left--
        await turn()
      }
    }
    const turns = Array.from({ length: clients }, client)
    await Promise.all(turns.map((turn) => loop(world, turn, 0)))
    if (child.pid === undefined) tally.violate(`${proxy} could not be started`)
  }
  const seconds = (performance.now() - startMs) / 1000
  const { how } = await subject.stop()
  if (how !== '0') tally.violate(`the server ended with ${how}`)
  const { lines, wrong } = auditBooks(dataDir, [workspace], tally)
  for (const what of wrong) tally.violate(what)
  if (tally.of(workspace.name).unknown > 0) tally.violate('requests without a whole reply')
  console.log(
    [
      `${proxy}: ${requests} requests in ${seconds.toFixed(0)} s`,
      ...[...tally.lines(), ...lines].map((line) => `  ${line}`),
      `  ${tally.violationCount} violations`,
      ...tally.violationLines().map((line) => `  ${line}`),
    ].join('\n'),
  )
  return tally.violationCount
}

/** Mostly single requests; of a hundred, two batches, two wrong keys and ten bad bodies. */
function mixedTurn(world: World, workspace: Workspace): Turn {
  const single = steadyClient(world, 'single', workspace)
  const batch = batchClient(world, 'batches', workspace)
  const wrongKey = wrongKeyClient(world, 'wrong keys')
  const wrongBody = wrongBodyClient(world, 'wrong bodies', workspace.key)
  return () => {
    const share = world.random.next()
    if (share < 0.02) return batch()
    if (share < 0.04) return wrongKey()
    return share < 0.14 ? wrongBody() : single()
  }
}
