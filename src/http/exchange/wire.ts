/**
 * What the exchanges need of the interface's texts.
 *
 * @module
 */

import type { AskedDecision } from '../../api/decisions/read-decision.js'
import type { Batch } from '../../api/read-batch.js'
import type { DecideRequest, Decided } from '../../decide/types.js'

/** What the head says about the reply, which its size depends on. */
export interface ReplyForm {
  readonly evidence: boolean
}

/**
 * A request's text to its meaning, and a decision to its text. A long text is read in several
 * turns of the event loop: then it is a promise, which rejects with what is thrown otherwise.
 */
export interface Wire {
  /** @throws {@link OiError} `ERR_BODY_INVALID` if the bytes are not UTF-8. */
  decodeUtf8(bytes: Uint8Array): string
  /**
   * @param ignored - Takes the places of members that nobody reads, the first eight.
   * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE`.
   */
  readRequest(
    text: string,
    form: ReplyForm,
    ignored?: string[],
  ): DecideRequest | Promise<DecideRequest>
  /** @throws As `readRequest`, for what is wrong with the batch as a whole. */
  readBatch(text: string, form: ReplyForm, ignored?: string[]): Batch | Promise<Batch>
  serializeDecision(decision: Decided): string
  /** As `readRequest`, of a body of `POST /v1/decisions`. */
  readDecision(
    text: string,
    form: ReplyForm,
    ignored?: string[],
  ): AskedDecision | Promise<AskedDecision>
  /** Its answer. */
  writeDecision(decision: Decided, asked: AskedDecision): string
}
