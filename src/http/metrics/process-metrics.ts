/**
 * The metrics of the server's process and its machine. Names follow other programs' conventions
 * where they exist.
 *
 * @module
 */

import { readdir, readFile, statfs } from 'node:fs/promises'
import { packageVersion } from '../../package-root.js'
import { counter, gauge, type MetricRow } from './metric-row.js'

/** Facts of the machine beyond requests. */
export interface Machine {
  /** The folder of its accounts. */
  readonly dataDir?: string | undefined
  /** When the certificate expires, milliseconds since 1970; undefined without one. */
  readonly certificateEndMs?: (() => number | undefined) | undefined
}

/**
 * Figures that are read asynchronously, once per scrape; undefined if the system does not provide
 * them.
 */
export interface MachineFigures {
  readonly openFiles: number | undefined
  readonly mostFiles: number | undefined
  readonly freeBytes: number | undefined
  readonly certificateEndMs: number | undefined
}

const startSeconds = Date.now() / 1000 - process.uptime()

export const processMetrics: readonly MetricRow<MachineFigures>[] = [
  counter('process_cpu_seconds_total', 'CPU time of all threads', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  gauge('process_resident_memory_bytes', 'Memory of the process', () => process.memoryUsage.rss()),
  gauge(
    'process_start_time_seconds',
    'Start time of the process, seconds since 1970',
    () => startSeconds,
  ),
  gauge('process_open_fds', 'Open files and connections', 'openFiles'),
  gauge('process_max_fds', 'Limit of open files and connections', 'mostFiles'),
  counter(
    'oi_event_loop_busy_seconds_total',
    'Time in which the thread of the HTTP server was busy',
    () => performance.eventLoopUtilization().active / 1000,
  ),
  gauge('oi_data_folder_free_bytes', 'Free space on the disk of the data folder', 'freeBytes'),
  gauge(
    'oi_tls_certificate_expiry_timestamp_seconds',
    'Expiry of the certificate in use, seconds since 1970',
    ({ certificateEndMs }) => certificateEndMs && certificateEndMs / 1000,
  ),
]

/** The one metric whose value is in its labels. */
export const buildInfo = {
  name: 'oi_build_info',
  help: '1, with the running versions as labels',
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
