/**
 * POST /v1/systemone/batch: many requests in one call.
 *
 * Rules
 *   1. What is wrong with the call as a whole (the key, the envelope, not one request left of
 *      the minute) is its reply. From then on the status is 200, and what goes wrong with an item
 *      is that item's result.
 *   2. Every item has one result. When the time is up, or the server ends, those that have none
 *      yet are given that error.
 *   3. As lines (`application/x-ndjson`), a result is written as soon as it is there. While the
 *      client does not keep up, nothing more is begun: what is kept for it is bounded by what was
 *      under way.
 *
 * @module
 */

import type { Batch } from '../api/read-batch.js'
import type { Decider, DecideRequest, Decision } from '../decide/types.js'
import { OiError } from '../errors.js'
import { BatchRun } from './batch-run.js'
import { BatchTotals } from './batch-totals.js'
import type { Head } from './exchange.js'
import { PostExchange } from './post-exchange.js'
import { errorContent } from './reply.js'

const linesType = 'application/x-ndjson'

/** A batch that has been read: from here on rule 2 holds. */
interface Work {
  readonly batch: Batch
  readonly run: BatchRun
  readonly totals: BatchTotals
  /** The text of each result by its item; of lines `''`, as they have been written. */
  readonly results: (string | undefined)[]
  left: number
}

export class BatchExchange extends PostExchange {
  #asLines = false
  #work: Work | undefined

  override abandon(): void {
    this.#work?.run.stop()
    super.abandon()
  }

  override cancel(error: OiError): void {
    const work = this.#work
    if (work === undefined) {
      super.cancel(error)
      return
    }
    work.run.stop()
    work.results.forEach((result, index) => {
      if (result === undefined) this.#failItem(index, error)
    })
    this.canceller.abort(error)
  }

  protected override readHead(head: Head): void {
    this.#asLines = accepts(head.getHeader('accept'), linesType)
  }

  protected override decide(text: string, decider: Decider): void {
    const batch = this.context.wire.readBatch(text)
    const count = batch.items.length
    const { admitted, refusal } = this.#admit(count)
    const requests = new Map<number, DecideRequest>()
    const failures = new Map<number, unknown>()
    batch.items.forEach(({ request }, index) => {
      if (index >= admitted) failures.set(index, refusal)
      else if (request instanceof OiError) failures.set(index, request)
      else requests.set(index, request)
    })
    const run = new BatchRun({
      items: [...requests.keys()],
      decide: async (index) => decider.decide(requests.get(index)!, this.decideOptions()),
      onAnswer: (index, decision) => this.#answerItem(index, decision),
      onFailure: (index, error) =>
        this.#failItem(index, error instanceof OiError ? batch.placed(index, error) : error),
    })
    const results = Array.from({ length: count }, () => undefined)
    this.#work = { batch, run, results, left: count, totals: new BatchTotals() }
    if (this.#asLines) this.beginParts(linesType, () => run.resume())
    for (const [index, error] of failures) this.#failItem(index, error)
    run.feed()
  }

  /**
   * Takes one of the minute's requests for each item; the head has taken the first.
   *
   * @returns How many items, from the first on, may be answered; and why not all of them.
   */
  #admit(count: number): { admitted: number; refusal?: unknown } {
    const { gate } = this.context
    let admitted = 1
    try {
      if (count > 1) gate.take(this.caller!, count - 1)
      return { admitted: count }
    } catch {
      // All or none: what is left of the minute is taken one by one.
    }
    try {
      for (; admitted < count; admitted++) gate.take(this.caller!, 1)
      return { admitted }
    } catch (refusal) {
      return { admitted, refusal }
    }
  }

  #answerItem(index: number, decision: Decision): void {
    // Also when the client has gone: the model has done the work.
    const booked = this.caller && this.context.gate.book(this.caller, decision)
    if (booked === undefined) this.#giveItem(index, decision)
    else {
      booked.then(
        () => this.#giveItem(index, decision),
        (error: unknown) => this.#failItem(index, error),
      )
    }
  }

  #giveItem(index: number, decision: Decision): void {
    if (this.ended) return
    let body: string
    try {
      body = this.context.wire.serializeDecision(decision)
      this.#work!.totals.add(decision)
    } catch (error) {
      this.#failItem(index, error)
      return
    }
    this.#settle(index, 200, body)
  }

  #failItem(index: number, error: unknown): void {
    if (this.ended) return
    const { status, body } = errorContent(error, this.id)
    if (status === 500) this.context.logger.fault(this.id, error)
    this.#settle(index, status, body)
  }

  /** @param body - The text of an object, whose members the result has besides its own. */
  #settle(index: number, status: number, body: string): void {
    const work = this.#work!
    const { id } = work.batch.items[index]!
    const name = id === undefined ? '' : `"id":${JSON.stringify(id)},`
    const result = `{"index":${index},${name}"status":${status},${body.slice(1)}`
    this.context.traffic.countItem(status)
    work.results[index] = this.#asLines ? '' : result
    if (this.#asLines && !this.write(`${result}\n`)) work.run.pause()
    if (--work.left === 0) this.#conclude(work)
  }

  #conclude({ results, totals }: Work): void {
    if (this.#asLines) {
      this.write(`{${totals.text}}\n`)
      this.finish()
      return
    }
    try {
      const body = `{"results":[${results.join(',')}],${totals.text}}`
      this.answer({ status: 200, body }, totals.timings)
    } catch (error) {
      // Together they may be longer than a text can be.
      this.fail(error)
    }
  }
}

/** Whether a list of media types names this one. Weights are not looked at. */
function accepts(header: string, type: string): boolean {
  return header.split(',').some((part) => part.split(';', 1)[0]!.trim().toLowerCase() === type)
}
