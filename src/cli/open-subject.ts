/**
 * What is asked about many rows: a model that is loaded for it, or a server.
 *
 * @module
 */

import { ordersOf } from '../api/orders.js'
import { readConfig } from '../config.js'
import { localSubject, remoteSubject, type Subject } from '../evaluate/subject.js'
import { connect, readOrders, requireKey } from './ask/ask-server.js'
import type { Dependencies } from '../server/dependencies.js'
import { loadModel, modelSettings } from './load-model.js'
import { modelToOpen } from '../opening/models-to-open.js'

export type SubjectFlags = {
  readonly url?: string
  readonly key?: string
} & Partial<Record<(typeof modelSettings)[number], string>>

export interface OpenedSubject {
  readonly subject: Subject
  readonly warning?: string | undefined
  /** The server's address. */
  readonly url?: string
  close(): Promise<void>
}

/** Loads the model, or connects to the server. */
export type OpenSubject = () => Promise<OpenedSubject>

/** With waits of one to eight seconds between them, so that a server can restart meanwhile. */
const maxRetries = 10
/** As many rows as a model's default queue holds. */
export const mostAtOnce = 256

/**
 * @param evidence - Whether answers have evidence.
 * @throws {@link OiError} `ERR_CONFIG` naming the flag, before anything is opened.
 */
export function subjectOf(
  flags: SubjectFlags,
  dependencies: Dependencies,
  evidence: boolean,
): OpenSubject {
  if (flags.url === undefined) return modelOf(flags, dependencies, evidence)
  const client = connect(flags.url, requireKey(flags, dependencies), maxRetries)
  const orders = readOrders(flags)
  return async () => ({
    subject: await remoteSubject(client, { orders, evidence }),
    url: client.baseUrl,
    close: async () => {},
  })
}

function modelOf(flags: SubjectFlags, dependencies: Dependencies, evidence: boolean): OpenSubject {
  const chosen = Object.fromEntries(modelSettings.map((name) => [name, flags[name]]))
  // Many rows can wait: no request is refused for the length of the queue.
  const patient = { maxQueued: mostAtOnce, maxBacklogMs: 3_600_000 }
  const config = readConfig(dependencies.environment, { ...chosen, ...patient })
  const model = modelToOpen(config)
  return async () => {
    const opened = await loadModel(model, dependencies)
    const { decider, warning } = opened
    return {
      subject: localSubject(decider, { orders: ordersOf(model.orders), evidence }),
      warning,
      close: () => opened.close(),
    }
  }
}
