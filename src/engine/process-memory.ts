/**
 * How much memory a process has, as Linux tells it.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

/** Bytes. */
export interface ProcessMemory {
  /** In RAM at the moment, pages of files included. */
  readonly residentBytes: number
  /** Of these, what belongs to no file: what others can have once the process has ended. */
  readonly ownBytes: number
}

/** @returns Undefined if there is no such process, or elsewhere than on Linux. */
export function processMemory(pid: number): ProcessMemory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1')
    const bytesOf = (name: string) =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)![1])
    return { residentBytes: bytesOf('VmRSS'), ownBytes: bytesOf('RssAnon') }
  } catch {
    return undefined
  }
}

/** What processes have that others could have instead, bytes. Each counts once. */
export function heldMemory(pids: readonly number[]): number {
  return [...new Set(pids)].reduce((sum, pid) => sum + (processMemory(pid)?.ownBytes ?? 0), 0)
}
