/**
 * The protocol of the admin socket: one request and its replies, each a line of JSON.
 *
 *     → {"operation":"models.unload","name":"small"}
 *     ← {"progress":"3 requests are under way"}
 *     ← {"result":{…}} or {"error":{"code":"ERR_NOT_FOUND","message":"…"}}
 *
 * The server closes the connection after the last line. A caller that leaves earlier changes
 * nothing: the operation is completed.
 *
 * @module
 */

/** Of a line, without its break. */
const maxLineLength = 1 << 20

export type Reply =
  | { readonly progress: string }
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }

/** Splits arriving text into lines. */
export class Lines {
  #rest = ''

  /** @returns Undefined if a line is too long. */
  push(text: string): readonly string[] | undefined {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    return this.#rest.length > maxLineLength ? undefined : lines
  }
}
