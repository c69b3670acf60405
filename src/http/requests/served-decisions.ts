/**
 * POST /v1/decisions: a request in the form of another API, translated.
 *
 * @module
 */

import type { AskedDecision } from '../../api/decisions/read-decision.js'
import type { DecideRequest, Decided } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { ServedDecision } from './served-decision.js'

export class ServedDecisions extends ServedDecision {
  /** Undefined until the body has been read. */
  #asked: AskedDecision | undefined

  override fail(error: unknown): void {
    super.fail(error instanceof OiError && this.#asked ? this.#asked.placed(error) : error)
  }

  protected override readText(text: string): DecideRequest | Promise<DecideRequest> {
    const note = (asked: AskedDecision) => {
      this.#asked = asked
      return asked.request
    }
    const asked = this.context.wire.readDecision(text, this.form, this.ignored)
    return asked instanceof Promise ? asked.then(note) : note(asked)
  }

  protected override textOf(decision: Decided): string {
    return this.context.wire.writeDecision(decision, this.#asked!)
  }
}
