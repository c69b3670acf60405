/**
 * What `GET /metrics` says about the server's process and the machine that it is on. Where other
 * programs have a name for a number, it is that one.
 *
 * @module
 */

import { readdir, readFile, statfs } from 'node:fs/promises'
import { packageVersion } from '../../package-root.js'

/** What can be known of a server beyond its requests. */
export interface Machine {
  /** The folder of its accounts. */
  readonly dataDir?: string | undefined
  /** When the certificate that it shows ends, milliseconds since 1970; undefined without one. */
  readonly certificateEndMs?: (() => number | undefined) | undefined
}

/** What has to be waited for, read once a scrape; undefined where the system does not tell. */
export interface MachineFigures {
  readonly openFiles: number | undefined
  readonly mostFiles: number | undefined
  readonly freeBytes: number | undefined
  readonly certificateEndMs: number | undefined
}

export interface ProcessMetric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** Undefined: there is none. */
  readonly read: (figures: MachineFigures) => number | undefined
}

const startSeconds = Date.now() / 1000 - process.uptime()

export const processMetrics: readonly ProcessMetric[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'CPU time of all threads',
    kind: 'counter',
    read: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    },
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process',
    kind: 'gauge',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'process_start_time_seconds',
    help: 'When the process began, seconds since 1970',
    kind: 'gauge',
    read: () => startSeconds,
  },
  {
    name: 'process_open_fds',
    help: 'Files and connections that are open',
    kind: 'gauge',
    read: ({ openFiles }) => openFiles,
  },
  {
    name: 'process_max_fds',
    help: 'How many of those there may be',
    kind: 'gauge',
    read: ({ mostFiles }) => mostFiles,
  },
  {
    name: 'oi_event_loop_busy_seconds_total',
    help: 'Time in which the thread of the HTTP server was busy',
    kind: 'counter',
    read: () => performance.eventLoopUtilization().active / 1000,
  },
  {
    name: 'oi_data_folder_free_bytes',
    help: 'Room that is left on the disk of the data folder',
    kind: 'gauge',
    read: ({ freeBytes }) => freeBytes,
  },
  {
    name: 'oi_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that is shown ends, seconds since 1970',
    kind: 'gauge',
    read: ({ certificateEndMs }) => certificateEndMs && certificateEndMs / 1000,
  },
]

/** The one number whose labels are what it says. */
export const buildInfo = {
  name: 'oi_build_info',
  help: '1, with the versions that run',
  labels: { version: packageVersion(), node: process.versions.node },
}

export async function readMachine({ dataDir, certificateEndMs }: Machine): Promise<MachineFigures> {
  const [openFiles, mostFiles, freeBytes] = await Promise.all([
    known(readdir('/proc/self/fd').then(({ length }) => length)),
    known(readFile('/proc/self/limits', 'latin1').then(openFilesLimit)),
    dataDir === undefined ? undefined : known(freeBytesOf(dataDir)),
  ])
  return { openFiles, mostFiles, freeBytes, certificateEndMs: certificateEndMs?.() }
}

const known = <T>(value: Promise<T>) => value.catch(() => undefined)

function openFilesLimit(limits: string): number | undefined {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Number(soft)
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
