/**
 * POST /v1/systemone/batch: many requests in one call.
 *
 * Rules
 *   1. An error of the whole call (the key, the envelope, no request left in the minute) is its
 *      reply. After that the status is 200, and an error of one item is that item's result.
 *   2. Every item has one result. When the batch's time is up, or the server closes, items without
 *      a result get that error. An item's own time limit begins when the item is handed over.
 *   3. With NDJSON (`application/x-ndjson`), a result is written as soon as it exists. While the
 *      client reads too slowly, no new item is begun: the memory for its results is bounded by the
 *      items under way. An empty line is sent now and then to show that the call still runs.
 *
 * @module
 */

import type { Batch } from '../../api/read-batch.js'
import type { Decider, DecideRequest, Decided } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { BatchRun } from './batch-run.js'
import { BatchTotals } from './batch-totals.js'
import { BatchTurn } from './batch-turn.js'
import { requireNamed } from '../bodies/multipart.js'
import { Outcome } from './outcome.js'
import { ServedPost } from './served-post.js'
import { prefersType } from '../reply/accepted.js'
import { cachedTokensHeader, errorContent } from '../reply/reply.js'
import { workOf } from './too-late.js'
import { wireCodeOf } from '../log/request-entry.js'
import type { Head } from '../contract.js'

const linesType = 'application/x-ndjson'

/** A batch that has been read: rule 2 holds from here on. */
interface Work {
  readonly batch: Batch
  readonly run: BatchRun
  readonly totals: BatchTotals
  readonly outcomes: readonly Outcome[]
  /** The items under way, by their index in the batch. */
  readonly turns: Map<number, BatchTurn>
  /** The text of each result, by its item; unused for NDJSON, where results are written at once. */
  readonly results: string[]
  heldLength: number
  left: number
}

export class ServedBatch extends ServedPost {
  #asLines = false
  #behind = false
  #heartbeat: NodeJS.Timeout | undefined
  #work: Work | undefined

  override abandon(): void {
    const { ended } = this
    super.abandon()
    if (!ended) this.#stop(this.canceller.reason)
  }

  override cancel(error: OiError): void {
    if (this.#work === undefined) {
      this.fail(error)
      this.canceller.abort(error)
      return
    }
    // Items that are decided are still given, which may end the request.
    for (const outcome of this.#work.outcomes) outcome.fail(error)
    this.canceller.abort(error)
    this.#stop(error)
  }

  protected override readHead(head: Head): void {
    this.#asLines = prefersType(head.getHeader('accept'), linesType, 'application/json')
  }

  protected override decide(text: string, decider: Decider): void | Promise<void> {
    const batch = this.context.wire.readBatch(text, this.form, this.ignored)
    if (!(batch instanceof Promise)) return this.#begin(batch, decider)
    return batch.then((read) => this.#begin(read, decider))
  }

  protected override onEnd(status: number, ms: number): void {
    super.onEnd(status, ms)
    clearTimeout(this.#heartbeat)
  }

  #begin(batch: Batch, decider: Decider): void {
    if (this.ended) return
    const asked = batch.items.map(({ request }) => request)
    // An invalid item may name any part, so it cannot be known which parts no item names.
    if (!asked.some((request) => request instanceof OiError)) requireNamed(this.files, asked)
    const count = batch.items.length
    const { admitted, refusal } = this.#admit(count)
    const requests = new Map<number, DecideRequest>()
    const failures = new Map<number, unknown>()
    batch.items.forEach(({ request }, index) => {
      if (index >= admitted) failures.set(index, refusal)
      else if (request instanceof OiError) failures.set(index, request)
      else {
        const unpaid = this.#fundsFailure(index)
        if (unpaid !== undefined) failures.set(index, unpaid)
        else requests.set(index, request)
      }
    })
    this.limitBy(this.context.batchDeadlines)
    const work: Work = {
      ...{ batch, run: this.#createRun(requests, decider), totals: new BatchTotals() },
      outcomes: batch.items.map((_, index) => this.#createOutcome(index)),
      ...{ turns: new Map(), results: [], heldLength: 0, left: count },
    }
    this.#work = work
    if (this.#asLines) this.#beginLines(work.run, [...requests.keys()])
    for (const [index, error] of failures) work.outcomes[index]!.fail(error)
    work.run.feed()
  }

  #createRun(requests: ReadonlyMap<number, DecideRequest>, decider: Decider): BatchRun {
    const { admission, deadlines } = this.context
    const caller = this.caller!
    const { trace } = this
    /** When each traced item was handed over. */
    const askedMs = new Map<number, number>()
    return new BatchRun({
      items: [...requests.keys()],
      enter: () => admission.enter(caller, { signal: this.canceller, patient: true }),
      leave: () => admission.leave(caller),
      decide: (index) => {
        if (trace !== undefined) askedMs.set(index, performance.now())
        const { outcomes, turns } = this.#work!
        const request = requests.get(index)!
        const turn = new BatchTurn(deadlines, outcomes[index]!, () =>
          workOf(decider, request.model),
        )
        turns.set(index, turn)
        const options = this.decideOptions(turn.canceller, deadlines.limitMs)
        return decider.decide(request, options).finally(() => {
          turn.end()
          turns.delete(index)
        })
      },
      onAnswer: (index, decision) => {
        trace?.item(askedMs.get(index)!, decision.timings, { 'oi.index': index })
        this.#work!.outcomes[index]!.decide(decision)
      },
      onFailure: (index, error) => {
        const what = { 'oi.index': index, 'error.type': wireCodeOf(error) }
        trace?.item(askedMs.get(index) ?? performance.now(), undefined, what)
        const { batch, outcomes } = this.#work!
        outcomes[index]!.fail(error instanceof OiError ? batch.placed(index, error) : error)
      },
    })
  }

  #createOutcome(index: number): Outcome {
    return new Outcome({
      replyText: (decision) => this.serialize(decision, this.#work!.heldLength),
      book: (decision) => {
        const { admission } = this.context
        return this.charge.book(index, (retry) => admission.book(this.caller!, decision, retry))
      },
      give: (decision, text) => this.#giveItem(index, decision, text),
      fail: (error) => this.#failItem(index, error),
    })
  }

  /** @param asked - The items that the decider gets. */
  #beginLines(run: BatchRun, asked: readonly number[]): void {
    const resume = () => {
      this.#behind = false
      run.resume()
    }
    // Before any of them is answered: what will be charged at most.
    const charges = asked.some((index) => !this.charge.isFree(index))
    this.beginParts(linesType, resume, this.charge.headers(charges))
    this.#heartbeat = setTimeout(() => {
      if (!this.#behind) this.#writeLine('')
      this.#heartbeat!.refresh()
    }, this.context.heartbeatMs).unref()
  }

  /**
   * Takes one of the minute's requests for each item; the head has taken the first.
   *
   * @returns How many items, from the first on, may be answered; and the error of the others.
   */
  #admit(count: number): { admitted: number; refusal?: unknown } {
    const { admission } = this.context
    const repeats = this.charge.mayRepeat
    let admitted = 1
    try {
      if (count > 1) admission.take(this.caller!, count - 1, repeats)
      return { admitted: count }
    } catch {
      // All or none: the requests left in the minute are taken one by one.
    }
    try {
      for (; admitted < count; admitted++) admission.take(this.caller!, 1, repeats)
      return { admitted }
    } catch (refusal) {
      return { admitted, refusal }
    }
  }

  /** Why an item that was not charged before cannot be: the head took it for a repetition. */
  #fundsFailure(index: number): unknown {
    if (!this.charge.mayRepeat || this.charge.isFree(index)) return undefined
    try {
      this.context.admission.requireFunds(this.caller!)
      return undefined
    } catch (error) {
      return error
    }
  }

  #giveItem(index: number, decision: Decided, text: string): void {
    if (this.ended) return
    this.#work!.totals.add(decision)
    this.context.traffic.addPhases(decision.timings)
    this.#settle(index, 200, text)
  }

  #failItem(index: number, error: unknown): void {
    if (this.ended) return
    const { status, body } = errorContent(error, this.id)
    if (status === 500) this.context.logger.fault(this.id, error, this.bodyDigest())
    this.context.traffic.countRefusal(wireCodeOf(error))
    this.#settle(index, status, body)
  }

  /** @param body - The text of an object; its members are added to the result's own. */
  #settle(index: number, status: number, body: string): void {
    const work = this.#work!
    const { id } = work.batch.items[index]!
    const name = id === undefined ? '' : `"id":${JSON.stringify(id)},`
    const result = `{"index":${index},${name}"status":${status},${body.slice(1)}`
    this.context.traffic.countItem(status)
    if (this.#asLines) {
      this.#writeLine(result)
    } else {
      work.results[index] = result
      work.heldLength += result.length
    }
    if (--work.left === 0) this.#conclude(work)
  }

  #writeLine(line: string): void {
    this.#heartbeat?.refresh()
    if (this.write(`${line}\n`)) return
    this.#behind = true
    this.#work!.run.pause()
  }

  #conclude({ results, totals }: Work): void {
    this.told = totals
    if (this.#asLines) {
      this.write(`{${totals.text}}\n`)
      this.finish()
      return
    }
    const body = `{"results":[${results.join(',')}],${totals.text}}`
    const cached = [cachedTokensHeader, String(totals.cached_tokens)]
    const headers = [...cached, ...this.charge.headers()]
    this.answer({ status: 200, body, headers }, totals.timings)
  }

  #stop(reason: unknown): void {
    if (this.#work === undefined) return
    const { run, turns } = this.#work
    run.stop()
    for (const turn of turns.values()) turn.canceller.abort(reason)
  }
}
