/**
 * What the server says about itself: one JSON line per request if wanted, and faults always.
 *
 * No key, no body and no answer is ever a part of an entry.
 *
 * @module
 */

export interface RequestEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  /** 0 if the client had gone before it was answered. */
  readonly status: number
  readonly ms: number
  readonly workspace?: string
}

export interface Logger {
  /** Undefined when requests are not logged, so that nobody builds entries for nothing. */
  readonly request: ((entry: RequestEntry) => void) | undefined
  /** A fault of the server, with the id of the request that met it. */
  fault(id: string, error: unknown): void
  /** What the operator should know, in a sentence. */
  notice(text: string): void
}

/** @param write - Takes one line, its line break included. */
export function createLogger(
  requests: boolean,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Logger {
  const line = (entry: object) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
  return {
    request: requests ? line : undefined,
    notice: (text) => line({ notice: text }),
    fault: (id, error) =>
      line({ id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  }
}
