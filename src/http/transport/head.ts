/**
 * The head of a request.
 *
 * @module
 */

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
