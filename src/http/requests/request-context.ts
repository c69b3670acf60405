/**
 * What all requests of a server share.
 *
 * @module
 */

import type { Caller } from '../../accounts/accounts.js'
import type { TrustedProxies } from '../access/client-address.js'
import type { Cors } from '../access/cors.js'
import type { FailedKeys } from '../access/failed-keys.js'
import type { Admission } from '../access/admission.js'
import type { Logger } from '../log/logger.js'
import type { Traffic } from '../metrics/traffic.js'
import type { Client, Head } from '../contract.js'

export interface RequestContext {
  readonly admission: Admission
  readonly logger: Logger
  readonly traffic: Traffic
  /** True while the server shuts down: connections are closed after their replies. */
  readonly closing: boolean
  /** Undefined if pages of other origins have no access. */
  readonly cors: Cors | undefined
  readonly failedKeys: FailedKeys
  readonly trustedProxies: TrustedProxies
  /** @throws {@link OiError} `ERR_API_KEY`. @param header - The value of `Authorization`. */
  authenticate(header: string, head: Head, client: Client): Caller
  /** Who shares what is read and evaluated for the caller: a text (`stateScopes`). */
  scopeOf(caller: Caller): string
}
