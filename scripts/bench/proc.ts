/**
 * CPU time, memory and handles as Linux counts them, from /proc. Elsewhere they are unknown.
 *
 * @module
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** All cores together, seconds. */
interface MachineTime {
  /** In processes: interrupts belong to none, and are left out. */
  readonly busy: number
  readonly steal: number
  readonly total: number
}

/** What is read of a process, unless it has ended meanwhile. */
function ifThere<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

export const hasProc = existsSync('/proc/self/stat')

/** Fixed in Linux' interface to programs, whatever unit the kernel counts in. */
const ticksPerSecond = 100

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

export function machineTime(): MachineTime {
  const [line] = readFileSync('/proc/stat', 'latin1').split('\n')
  // user nice system idle iowait irq softirq steal; guest time is a part of user.
  const ticks = line!.trim().split(/\s+/).slice(1, 9).map(Number)
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = ticks
  return {
    busy: (user + nice + system) / ticksPerSecond,
    steal: steal / ticksPerSecond,
    total: total(ticks) / ticksPerSecond,
  }
}

/** CPU time of one process so far, seconds. */
export function processTime(pid: number): number {
  const [, , user, system] = statOf(pid)!
  return (user! + system!) / ticksPerSecond
}

/** Memory of a process and its children, bytes. A server's models are in children. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  // A process that has just ended has no memory, and no such line.
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  return childrenOf(pid).reduce((sum, one) => sum + ifThere(() => residentBytes(one), 0), own)
}

/** Running children of a process' main thread. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** The processes of a server's models. One that has only been forked is still the server's copy. */
export function runnersOf(pid: number): number[] {
  const commandOf = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'latin1')
  return childrenOf(pid).filter((child) =>
    ifThere(() => commandOf(child).includes('runner/main.js'), false),
  )
}

/** Files, sockets and other handles that one process has open. */
export function openHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** CPU time of a process and its descendants so far, also of ended ones, seconds. */
export function treeTime(root: number): number {
  const children = new Map<number, number[]>()
  const ticks = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = statOf(Number(name))
    if (stat === undefined) continue
    const [pid, parent, ...own] = stat
    children.set(parent!, [...(children.get(parent!) ?? []), pid!])
    ticks.set(pid!, total(own))
  }
  const sum = (pid: number): number =>
    (children.get(pid) ?? []).reduce((all, child) => all + sum(child), ticks.get(pid) ?? 0)
  return sum(root) / ticksPerSecond
}

/** Pid, parent, then ticks: user, system, and both of waited-for children. */
function statOf(pid: number): number[] | undefined {
  const text = ifThere(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), undefined)
  if (text === undefined) return undefined
  // The name in brackets may hold spaces and brackets itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return [pid, Number(fields[1]), ...fields.slice(11, 15).map(Number)]
}
