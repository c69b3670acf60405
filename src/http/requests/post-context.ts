/**
 * What all requests for decisions share.
 *
 * @module
 */

import type { Decider } from '../../decide/types.js'
import type { Tracer } from '../../trace/tracer.js'
import type { BodyBudget } from '../bodies/body.js'
import type { BodyClock } from '../bodies/body-clock.js'
import type { Charges } from './charges.js'
import type { Deadlines } from './deadlines.js'
import type { RequestContext } from './request-context.js'
import type { ServedPost } from './served-post.js'
import type { Running } from '../../running.js'
import type { Wire } from './wire.js'

export interface PostContext extends RequestContext {
  readonly wire: Wire
  readonly running: Running<ServedPost>
  readonly maxBodyBytes: number
  readonly maxReplyBytes: number
  readonly bodies: BodyBudget
  readonly charges: Charges
  readonly bodyClock: BodyClock
  /** Of single requests once their bodies have come, and of the items of batches. */
  readonly deadlines: Deadlines
  /** Of batches that have been read. */
  readonly batchDeadlines: Deadlines
  /** How long a batch as NDJSON may be silent before it sends an empty line. */
  readonly heartbeatMs: number
  /** Undefined if nothing is traced. */
  readonly tracer: Tracer | undefined
  /** @throws {@link OiError} `ERR_OVERLOADED` unless the model is ready. */
  decider(): Decider
}
