/**
 * Asks a running server instead of a local model.
 *
 * @module
 */

import { ordersOf } from '../../api/orders.js'
import { type Client, createClient, OiRequestError, type Orders } from '../../client/index.js'
import { keyIn, readConfig, settings } from '../../config.js'
import { OiError } from '../../errors.js'
import type { Dependencies } from '../../server/dependencies.js'
import { serverAddress } from '../input/values.js'

interface ServerQuestion {
  /** With or without `/v1` at its end. */
  readonly url: string
  readonly key: string
  /** The text of the request body. */
  readonly body: string
  readonly evidence: boolean
  /** Default: the server's setting. */
  readonly orders: Orders | undefined
}

/** Above a server's own deadlines: the user can interrupt the command. */
const timeoutMs = 600_000

/**
 * @returns The text of the response body.
 * @throws {@link OiError} `ERR_CONFIG` for an invalid address or key, `ERR_REMOTE` with the
 *   server's status, code and message, or why it could not be reached.
 */
export async function askServer(question: ServerQuestion): Promise<string> {
  const { url, key, body, evidence, orders } = question
  // No retries: the user decides after reading the message.
  const client = connect(url, key, 0)
  try {
    return await client.decideText(body, { evidence, orders })
  } catch (cause) {
    if (!(cause instanceof OiRequestError)) throw cause
    throw new OiError('ERR_REMOTE', messageOf(cause, `${client.baseUrl}/v1/systemone`), { cause })
  }
}

/**
 * A client for the address and the key of the command line.
 *
 * @throws {@link OiError} `ERR_CONFIG` for an invalid address or key.
 */
export function connect(url: string, key: string, maxRetries: number): Client {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new OiError(
      'ERR_CONFIG',
      'The key has characters that no key can have: see --key and OI_KEY',
    )
  }
  const baseUrl = serverAddress('--url', url)
  return createClient({ baseUrl, apiKey: key, timeoutMs, maxRetries })
}

/**
 * The key for --url.
 *
 * @throws {@link OiError} `ERR_CONFIG` if there is none, or if a setting of a local model is given.
 */
export function requireKey(
  flags: { readonly key?: string },
  { environment }: Pick<Dependencies, 'environment'>,
): string {
  // A server takes orders, too.
  const setting = settings.find(({ name }) => name in flags && name !== 'orders')
  if (setting !== undefined) {
    throw new OiError('ERR_CONFIG', `--url asks the server's own model: leave out ${setting.flag}`)
  }
  const key = flags.key ?? keyIn(environment)
  if (key) return key
  throw new OiError('ERR_CONFIG', '--url needs a key: --key <key> or OI_KEY')
}

/** Read like a setting, but not from the environment, which is about local models. */
export function readOrders({ orders }: { readonly orders?: string }): Orders | undefined {
  return orders === undefined ? undefined : ordersOf(readConfig({}, { orders }).orders)
}

function messageOf({ status, code, message, cause }: OiRequestError, endpoint: string): string {
  if (status !== undefined) return `${endpoint} answered ${status} ${code}: ${message}`
  const { cause: reason } = (cause ?? {}) as { cause?: NodeJS.ErrnoException }
  if (reason?.code !== 'ECONNREFUSED') return message
  return `Cannot reach ${endpoint}: nothing listens there (oi serve starts a server)`
}
