/**
 * What the system says about a process. Linux; elsewhere nothing is known.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

export interface ProcessUsage {
  readonly residentBytes: number
  /** Of these, what belongs to no file: what others can have once the process has ended. */
  readonly ownBytes: number
  /** Of all threads. */
  readonly cpuMs: number
}

/** What Linux counts CPU time in, for programs: a hundredth of a second, on any machine. */
const tickMs = 10

/** @returns Undefined if there is no such process, or no way to know. */
export function processUsage(pid: number): ProcessUsage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const bytesOf = (name: string) =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1])
    // Behind the name: the state is field 3, the ticks of user and system are 14 and 15.
    const fields = statFields(pid)
    const ticks = Number(fields[11]) + Number(fields[12])
    return {
      residentBytes: bytesOf('VmRSS'),
      ownBytes: bytesOf('RssAnon'),
      cpuMs: tickMs * ticks,
    }
  } catch {
    return undefined
  }
}

/** Whether a process has been stopped, as by SIGSTOP. False where that cannot be seen. */
export function isStopped(pid: number): boolean {
  try {
    return statFields(pid)[0] === 'T'
  } catch {
    return false
  }
}

/** Those behind the name, which may have any character in it. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
