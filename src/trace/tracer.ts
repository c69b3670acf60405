/**
 * Traces of requests for decisions: a span per request, and spans for its phases.
 *
 * Only the lengths of the phases are known (the model's process reports them in its reply), so the
 * phases of a decision are laid end to end, in the order in which they begin: tokenize, queue,
 * vision, model.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { SpentMs } from '../errors.js'
import type { Attributes, Span } from './span.js'
import { readTraceparent, readTracestate, type Traceparent } from './traceparent.js'

interface TracerOptions {
  /** Takes each span when it has ended. Never throws, never waits. */
  readonly add: (span: Span) => void
  /** The percentage of requests that is traced when the caller sends no trace. */
  readonly samplePercent: number
}

/**
 * The clock offset is read again if the machine's clock has been set by more than this,
 * milliseconds.
 */
const setMs = 5

export class Tracer {
  readonly #options: TracerOptions
  /** From the monotonic clock to the machine's clock. */
  #offsetMs = performance.timeOrigin

  constructor(options: TracerOptions) {
    this.#options = options
  }

  /**
   * Begins the trace of a request.
   *
   * @param traceparent - The header; `''` if absent.
   * @param tracestate - Likewise; read only if the first is valid.
   * @returns Undefined if the request is not recorded.
   */
  begin(traceparent: string, tracestate: () => string = () => ''): Trace | undefined {
    const parent = traceparent === '' ? undefined : readTraceparent(traceparent)
    const wanted = parent?.sampled ?? Math.random() * 100 < this.#options.samplePercent
    if (!wanted) return undefined
    const offsetMs = Date.now() - performance.now()
    if (Math.abs(offsetMs - this.#offsetMs) > setMs) this.#offsetMs = offsetMs
    const traceState = parent === undefined ? '' : readTracestate(tracestate())
    return new Trace(parent, traceState, this.#offsetMs, this.#options.add)
  }
}

/** Times are on the clock of `performance.now()`. */
export class Trace {
  readonly id: string
  readonly #spanId = newSpanId()
  readonly #parentId: string | undefined
  readonly #traceState: string
  readonly #offsetMs: number
  readonly #add: (span: Span) => void

  constructor(
    parent: Pick<Traceparent, 'traceId' | 'parentId'> | undefined,
    traceState: string,
    offsetMs: number,
    add: (span: Span) => void,
  ) {
    this.id = parent?.traceId ?? randomBytes(16).toString('hex')
    this.#parentId = parent?.parentId
    this.#traceState = traceState
    this.#offsetMs = offsetMs
    this.#add = add
  }

  /** The header with which others join this trace. */
  get traceparent(): string {
    return `00-${this.id}-${this.#spanId}-01`
  }

  /** Adds a finished part of the request. */
  part(name: string, startMs: number, endMs = performance.now()): void {
    this.#end(name, startMs, endMs, this.#spanId)
  }

  /** Adds the phases of a decision that has just been made. @param startMs - When it was asked. */
  decision(startMs: number, phases: SpentMs, parentId = this.#spanId): void {
    let atMs = startMs
    for (const name of ['tokenize', 'queue', 'vision', 'model'] as const) {
      const lengthMs = phases[name]
      // Most requests have no images.
      if (name === 'vision' && lengthMs === 0) continue
      this.#end(name, atMs, atMs + lengthMs, parentId)
      atMs += lengthMs
    }
  }

  /** Adds an item of a batch that has its result. @param phases - Undefined if it was refused. */
  item(startMs: number, phases: SpentMs | undefined, attributes: Attributes): void {
    const spanId = newSpanId()
    if (phases !== undefined) this.decision(startMs, phases, spanId)
    this.#end('item', startMs, performance.now(), this.#spanId, { spanId, attributes })
  }

  /** Ends the whole request. @param failed - Whether the server is to blame. */
  end(name: string, startMs: number, attributes: Attributes, failed: boolean): void {
    const rest = { spanId: this.#spanId, kind: 'server' as const, attributes, failed }
    this.#end(name, startMs, performance.now(), this.#parentId, rest)
  }

  #end(
    name: string,
    startMs: number,
    endMs: number,
    parentId: string | undefined,
    rest: Partial<Span> = {},
  ): void {
    this.#add({
      ...{ traceId: this.id, spanId: rest.spanId ?? newSpanId(), parentId, name },
      traceState: this.#traceState,
      ...{ kind: 'internal', attributes: {}, failed: false },
      startMs: startMs + this.#offsetMs,
      endMs: endMs + this.#offsetMs,
      ...rest,
    })
  }
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}
