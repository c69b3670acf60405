/**
 * The head of a request.
 *
 * @module
 */

/** The head of a request, in the form that uWebSockets.js gives it; valid during one call. */
export interface Head {
  /** In lower case. */
  getMethod(): string
  /** The path, without the query. */
  getUrl(): string
  /** What stands behind the `?`, without it; `''` or undefined if there is nothing. */
  getQuery(): string | undefined
  /**
   * @returns `''` if there is no such header; of one that stands several times, all values or the
   *   first, as the transport has it. @param name - In lower case.
   */
  getHeader(name: string): string
  /** Visits every header, each time that it stands there. Names are in lower case. */
  forEach(visit: (name: string, value: string) => void): void
}

/** A header that may stand several times: a proxy can put its own behind the one that it was sent. */
export function everyValue(head: Head, name: string): string {
  const values: string[] = []
  head.forEach((one, value) => {
    if (one === name) values.push(value)
  })
  return values.join(',')
}
