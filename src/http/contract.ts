/**
 * What transports and the requests that they bring know of each other.
 *
 * @module
 */

import type { OiError } from '../errors.js'

/** Handles requests, independent of the transport. */
export interface Listener {
  /**
   * Begins a request. Never throws.
   *
   * @param head - Read before this returns.
   * @returns The request that receives the body and learns when the client goes, or undefined if
   *   the reply has been sent.
   */
  open(head: Head, client: Client): Served | undefined
  /** Makes `/readyz` report the coming shutdown. */
  beginDrain(): void
  /** Answers a request that the transport cannot read. Never throws. */
  refuse(head: Head, client: Client, error: OiError): void
  /** Refuses new requests, and ends the running ones within `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** The head of a request, with the methods of uWebSockets.js; valid during one call. */
export interface Head {
  /** In lower case. */
  getMethod(): string
  /** The path, without the query. */
  getUrl(): string
  /** The part after the `?`; `''` or undefined if there is none. */
  getQuery(): string | undefined
  /**
   * @returns `''` if there is no such header; for a repeated header all values or the first,
   *   depending on the transport. @param name - In lower case.
   */
  getHeader(name: string): string
  /** Visits every header, repeated ones each time. Names are in lower case. */
  forEach(visit: (name: string, value: string) => void): void
}

/** All values of a header: a proxy can append its own to the one that it received. */
export function everyValue(head: Head, name: string): string {
  const values: string[] = []
  head.forEach((one, value) => {
    if (one === name) values.push(value)
  })
  return values.join(',')
}

/** The server's side of a request, as its transport sees it. */
export interface Served {
  /** Whether its reply is decided, or nobody waits for it any more. */
  readonly ended: boolean
  /** Whether an answer is being written, whole or in parts. */
  readonly begun: boolean
  /** A part of the body has come. */
  receive(chunk: Uint8Array, last: boolean): void
  /** Ends it with an error, if it has not ended. */
  fail(error: unknown): void
  /** The client has gone: before the reply, or without having had all of it. */
  abandon(): void
  /** The client has the reply. */
  arrived(): void
}

/** The transport's side of a request. No method is called after the client has gone. */
export interface Client {
  /** The address of the connection's peer. Read while a request begins. */
  address(): string
  /** A reply exists and will be sent soon: the server's close waits for it. */
  hold(): void
  /** Writes the whole reply. Called at most once, and never together with `begin()`. */
  send(reply: Reply): void
  /**
   * Begins a reply in parts. Called at most once.
   *
   * @param headers - As in {@link Reply}.
   * @param onWritable - Called when the parts that `write()` queued have left.
   */
  begin(status: number, headers: readonly string[], onWritable: () => void): void
  /**
   * Writes a part, or queues it until the client has read the parts before it.
   *
   * @returns False if the client reads too slowly: parts until `onWritable` cost memory.
   */
  write(part: string | Uint8Array): boolean
  /** Ends the reply after its last part. */
  end(): void
}

export interface Reply {
  readonly status: number
  /** Name, value, name, value, …; names in lower case. */
  readonly headers: readonly string[]
  /**
   * For GET always the whole body; with `headOnly` only its length is sent, with 204 not even that.
   */
  readonly body: string | Uint8Array
  readonly headOnly: boolean
  /** Whether to close the connection after this reply. */
  readonly close: boolean
}

/** A reply without the common headers. */
export interface Content {
  readonly status: number
  readonly body: string | Uint8Array
  /** Default `application/json`. */
  readonly type?: string
  readonly headers?: readonly string[]
}
