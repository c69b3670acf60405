/**
 * The server itself, its settings, and the audit log.
 *
 * @module
 */

import { adminApiDocument } from '../api/admin/document.js'
import type { ReplyOf } from '../api/admin/operations.js'
import type { AdminHandlers, AdminServices } from './call.js'
import { auditReply, timeText } from './present.js'

type Ids = 'getSettings' | 'getAudit' | 'getServer' | 'getAdminOpenApi'

const standardEntries = 100

export function serverHandlers(services: AdminServices): AdminHandlers<Ids> {
  const { accounts, mode, models, settings, unbooked, facts, running, pendingBookings } = services
  const startedMs = Date.now() - 1000 * process.uptime()
  return {
    getSettings: () => ({ settings: settings().map((setting) => ({ ...setting })) }),
    getAudit: ({ query }) => {
      const { limit = standardEntries, before } = query
      const { entries, more } = accounts.audit.page(limit, before)
      return {
        entries: entries.map(auditReply),
        next_before: more ? entries.at(-1)!.id : null,
        unbooked: { ...unbooked },
      }
    },
    getServer: () => {
      const { version, transport, addresses, dataDir, state, availableBytes } = facts()
      const { fileBytes, pendingAnswers } = pendingBookings()
      // A process may run several models, and may be the server's own.
      const processes = models.status().flatMap((status) => status.processes)
      const others = new Map(processes.map(({ pid, residentBytes }) => [pid, residentBytes ?? 0]))
      others.delete(process.pid)
      return {
        ...{ version, node: process.versions.node, transport, addresses: [...addresses], state },
        started_at: timeText(startedMs),
        uptime_seconds: process.uptime(),
        admin: mode,
        data_folder: dataDir,
        requests_under_way: running(),
        memory: {
          resident_bytes: process.memoryUsage.rss(),
          models_resident_bytes: [...others.values()].reduce((sum, bytes) => sum + bytes, 0),
          available_bytes: availableBytes,
        },
        accounts: {
          trouble: accounts.trouble() ?? null,
          file_bytes: fileBytes,
          pending_bookings: pendingAnswers,
        },
      }
    },
    getAdminOpenApi: () => adminApiDocument() as ReplyOf<'getAdminOpenApi'>,
  }
}
