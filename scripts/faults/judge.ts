/**
 * What must hold at the end of every run, whatever the faults were.
 *
 * @module
 */

import { auditBooks } from './accounts.js'
import type { Memory } from './memory.js'
import type { RunReport } from './run.js'
import type { World } from './world.js'

/** Limit for /healthz, under all faults. */
const mostHealthMs = 50
/** The last third of a run against the first. */
const mostGrowth = 1.1
/** Files of the accounts that are opened when they are first needed. */
const mostHandles = 8

export function judge(world: World, memory: Memory, others: readonly string[]): RunReport {
  const { dataDir, workspaces, tally } = world
  const { lines, wrong } = auditBooks(dataDir, workspaces, tally)
  for (const what of wrong) tally.violate(what)
  const said = judgeHealth(world)
  const { thirds, handlesBefore, handlesLeft } = memory
  if (thirds !== undefined && thirds[2]! > mostGrowth * thirds[0]!) {
    tally.violate('resident memory grows')
  }
  if (handlesLeft > mostHandles) tally.violate(`${handlesLeft} handles are left open`)
  const mebibytes = thirds?.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(', ')
  return {
    lines: [
      ...[...tally.lines(), ...lines, ...others, ...said],
      `resident memory in thirds of the run, MiB: ${mebibytes ?? 'the run was too short'}`,
      `open handles: ${handlesBefore} before, ${handlesLeft} more at the end`,
    ],
    violations: tally.violationLines(),
  }
}

function judgeHealth({ tally, health, idle, slowness }: World): string[] {
  if (health === undefined) return []
  const line = `/healthz: ${health.line}`
  if (health.quantile(0.999) > slowness * mostHealthMs) tally.violate(line)
  for (const [end, count] of health.failures) tally.violate(`/healthz: ${count} times ${end}`)
  return [line, `a server that does nothing, beside it: ${idle?.line}`]
}
