/**
 * Asks a running server instead of a model of one's own.
 *
 * @module
 */

import { ordersOf } from '../../api/orders.js'
import { type Client, createClient, OiRequestError, type Orders } from '../../client/index.js'
import { readConfig, settings } from '../../config.js'
import { OiError } from '../../errors.js'
import type { Dependencies } from '../dependencies.js'

export interface ServerQuestion {
  /** With or without `/v1` at its end. */
  readonly url: string
  readonly key: string
  /** The text of the request body. */
  readonly body: string
  readonly evidence: boolean
  /** Undefined: as the server's model is set. */
  readonly orders: Orders | undefined
}

/** Above what a server waits by itself: whoever asks can interrupt the command. */
const timeoutMs = 600_000

/**
 * @returns The text of the response body.
 * @throws {@link OiError} `ERR_CONFIG` for an address or key that cannot be one, `ERR_REMOTE`
 *   with the server's own status, code and message, or why it could not be reached.
 */
export async function askServer(question: ServerQuestion): Promise<string> {
  const { url, key, body, evidence, orders } = question
  // Nothing is tried again: that is for whoever reads the message to decide.
  const client = connect(url, key, 0)
  try {
    return await client.decideText(body, { evidence, orders })
  } catch (cause) {
    if (!(cause instanceof OiRequestError)) throw cause
    throw new OiError('ERR_REMOTE', messageOf(cause, `${client.baseUrl}/v1/systemone`), { cause })
  }
}

/**
 * A client for the address and the key of a command line.
 *
 * @throws {@link OiError} `ERR_CONFIG` for an address or key that cannot be one.
 */
export function connect(url: string, key: string, maxRetries: number): Client {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new OiError(
      'ERR_CONFIG',
      'The key holds characters that no key has: see --key and OI_KEY',
    )
  }
  try {
    return createClient({ baseUrl: url, apiKey: key, timeoutMs, maxRetries })
  } catch (cause) {
    const { message } = cause as TypeError
    throw new OiError('ERR_CONFIG', message.replace(/^baseUrl/, '--url'), { cause })
  }
}

/**
 * The key that goes with --url.
 *
 * @throws {@link OiError} `ERR_CONFIG` if there is none, or a setting of a model of one's own.
 */
export function requireKey(
  flags: { readonly key?: string },
  { environment }: Pick<Dependencies, 'environment'>,
): string {
  // Orders can be asked of a server, too.
  const setting = settings.find(({ name }) => name in flags && name !== 'orders')
  if (setting !== undefined) {
    throw new OiError('ERR_CONFIG', `--url asks the server's own model: leave out ${setting.flag}`)
  }
  const key = flags.key ?? environment['OI_KEY']
  if (key) return key
  throw new OiError('ERR_CONFIG', '--url needs a key: --key <key> or OI_KEY')
}

/** As a setting is read, but what the environment says is about models of one's own. */
export function readOrders({ orders }: { readonly orders?: string }): Orders | undefined {
  return orders === undefined ? undefined : ordersOf(readConfig({}, { orders }).orders)
}

function messageOf({ status, code, message, cause }: OiRequestError, endpoint: string): string {
  if (status !== undefined) return `${endpoint} answered ${status} ${code}: ${message}`
  const { cause: reason } = (cause ?? {}) as { cause?: NodeJS.ErrnoException }
  if (reason?.code !== 'ECONNREFUSED') return message
  return `Cannot reach ${endpoint}: nothing listens there (oi serve starts a server)`
}
