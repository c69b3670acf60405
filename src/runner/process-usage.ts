/**
 * Memory and CPU time of a process, from Linux; unknown on other systems.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

export interface ProcessUsage {
  readonly residentBytes: number
  /** The part that belongs to no file: it becomes free when the process ends. */
  readonly ownBytes: number
  /** Of all threads. */
  readonly cpuMs: number
}

/** Linux's unit of CPU time: a hundredth of a second, on any machine. */
const tickMs = 10

/** @returns Undefined if there is no such process, or the system does not tell. */
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

/** Whether a process is stopped, as by SIGSTOP. False if the system does not tell. */
export function isStopped(pid: number): boolean {
  try {
    return statFields(pid)[0] === 'T'
  } catch {
    return false
  }
}

/** The fields behind the name, which may contain any character. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
