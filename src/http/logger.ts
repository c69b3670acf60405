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
  /**
   * A fault of the server.
   *
   * @param id - Of the request that met it, or `process` if none did.
   * @param digest - Of that one's body.
   */
  fault(id: string, error: unknown, digest?: string): void
  /** What the operator should know, in a sentence. */
  notice(text: string): void
  /** Faults so far. */
  readonly faults: number
  /** Lines that could not be written so far. */
  readonly lostLines: number
}

/**
 * @param write - Takes one line, its line break included. Never throws, never waits.
 * @param lostLines - How many of them could not be written so far.
 */
export function createLogger(
  requests: boolean,
  write: (line: string) => void,
  lostLines: () => number = () => 0,
): Logger {
  let faults = 0
  const line = (entry: object) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
  return {
    request: requests ? line : undefined,
    notice: (text) => line({ notice: text }),
    fault: (id, error, digest) => {
      faults++
      line({ id, fault: textOf(error), digest })
    },
    get faults() {
      return faults
    },
    get lostLines() {
      return lostLines()
    },
  }
}

/** Also of what cannot be shown: a fault must not be lost for its text. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'an error without a text'
  }
}
