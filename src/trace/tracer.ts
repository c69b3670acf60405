/**
 * Traces of requests for decisions: a span for each request, and spans for where its time went.
 *
 * What waits, reads, and computes is told by its length alone (the model's process says so in its
 * reply), so the parts of a decision are laid one behind another, in the order of their first
 * moments: tokenize, queue, vision, model.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { Attributes, Span } from './span.js'
import { readTraceparent, readTracestate, type Traceparent } from './traceparent.js'

/** Milliseconds, as an answer tells them. */
export interface Phases {
  readonly tokenize: number
  readonly queue: number
  readonly vision: number
  readonly model: number
}

export interface TracerOptions {
  /** Takes each span when it has ended. Never throws, never waits. */
  readonly add: (span: Span) => void
  /** Of requests that bring no trace, how many percent have one. */
  readonly samplePercent: number
}

/** By how much the clock of the machine may have been set before it is read again, milliseconds. */
const setMs = 5

export class Tracer {
  readonly #options: TracerOptions
  /** From the clock that never goes back to that of the machine. */
  #offsetMs = performance.timeOrigin

  constructor(options: TracerOptions) {
    this.#options = options
  }

  /**
   * Begins the trace of a request.
   *
   * @param traceparent - The header; `''` if there is none.
   * @param tracestate - Likewise; asked for only if the first is good.
   * @returns Undefined if the request is not to be recorded.
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

/** Times are those of `performance.now()`. */
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

  /** The header by which others say that they belong to it. */
  get traceparent(): string {
    return `00-${this.id}-${this.#spanId}-01`
  }

  /** A part of the request that has ended. */
  part(name: string, startMs: number, endMs = performance.now()): void {
    this.#end(name, startMs, endMs, this.#spanId)
  }

  /** Where the time of a decision went, which has just been made. @param startMs - When it was asked. */
  decision(startMs: number, phases: Phases, parentId = this.#spanId): void {
    let atMs = startMs
    for (const name of ['tokenize', 'queue', 'vision', 'model'] as const) {
      const lengthMs = phases[name]
      // Most requests have no pictures.
      if (name === 'vision' && lengthMs === 0) continue
      this.#end(name, atMs, atMs + lengthMs, parentId)
      atMs += lengthMs
    }
  }

  /** An item of a batch that has its result. @param phases - Undefined if it was refused. */
  item(startMs: number, phases: Phases | undefined, attributes: Attributes): void {
    const spanId = newSpanId()
    if (phases !== undefined) this.decision(startMs, phases, spanId)
    this.#end('item', startMs, performance.now(), this.#spanId, { spanId, attributes })
  }

  /** The whole request. @param failed - Whether the server is to blame. */
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
