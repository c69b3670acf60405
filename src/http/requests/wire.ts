/**
 * Reads and writes the texts of the wire for the requests.
 *
 * @module
 */

import type { AskedDecision } from '../../api/decisions/read-decision.js'
import type { Batch } from '../../api/read-batch.js'
import type { DecideRequest, Decided } from '../../decide/types.js'

/** Properties of a request besides its text. */
export interface ReplyForm {
  /** Makes the reply longer. */
  readonly evidence: boolean
  /** Who shares questions that were read before: a text. */
  readonly scope: string
}

/**
 * Reads a request's text and writes a decision's. A long text is read in several turns of the event
 * loop: the result is then a promise, which rejects instead of throwing.
 */
export interface Wire {
  /** @throws {@link OiError} `ERR_BODY_INVALID` if the bytes are not UTF-8. */
  decodeUtf8(bytes: Uint8Array): string
  /**
   * @param ignored - Collects the places of unknown members, the first eight.
   * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE`.
   */
  readRequest(
    text: string,
    form: ReplyForm,
    ignored?: string[],
  ): DecideRequest | Promise<DecideRequest>
  /** @throws As `readRequest`, for errors of the batch as a whole. */
  readBatch(text: string, form: ReplyForm, ignored?: string[]): Batch | Promise<Batch>
  serializeDecision(decision: Decided): string
  /** As `readRequest`, for a body of `POST /v1/decisions`. */
  readDecision(
    text: string,
    form: ReplyForm,
    ignored?: string[],
  ): AskedDecision | Promise<AskedDecision>
  /** The reply's text. */
  writeDecision(decision: Decided, asked: AskedDecision): string
}
