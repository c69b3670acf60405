/**
 * The context that requests of the admin area share with those of `/v1`; read on use, as settings
 * change while the server runs.
 *
 * @module
 */

import type { Accounts, Caller } from '../accounts/accounts.js'
import { OiError } from '../errors.js'
import type { Admission } from '../http/access/admission.js'
import { Charges } from '../http/requests/charges.js'
import type { PostContext } from '../http/requests/post-context.js'
import type { AdminHandlers } from './call.js'
import type { AdminDoor } from './door.js'

interface Own {
  readonly door: AdminDoor
  readonly admission: Admission
  readonly handlers: AdminHandlers
  readonly accounts: Pick<Accounts, 'callerOf'>
}

export type AreaContext = PostContext & Own

/** @param server - The context of `/v1`, which has all that is not the area's own. */
export function areaContext(server: PostContext, own: Own): AreaContext {
  const differing = {
    ...own,
    /** Pages of other origins have no access here, whatever they may do in `/v1`. */
    cors: undefined,
    /** Nothing is charged once here. */
    charges: new Charges(undefined, 0),
    /** API keys are not accepted here. */
    authenticate: (): Caller => {
      throw new OiError('ERR_SESSION', 'API keys are not accepted here')
    },
    decider: () => server.decider(),
  }
  return new Proxy(differing as unknown as AreaContext, {
    get: (target, name): unknown => Reflect.get(name in target ? target : server, name),
  })
}
