/**
 * Bytes that arrive in pieces of any size to lines of text.
 *
 * @module
 */

/**
 * Lines without their ends, empty ones left out. A character may be cut by the pieces.
 *
 * @param read - The next piece.
 * @throws What `read` throws.
 */
export async function* linesOf(
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  // Joined once at the line's end: a long line in many pieces is not searched again and again.
  let begun: string[] = []
  for (;;) {
    const { done, value } = await read()
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true })
    const pieces = text.split('\n')
    const last = pieces.pop()!
    for (const piece of pieces) {
      begun.push(piece)
      const line = begun.join('')
      begun = []
      if (line.trim() !== '') yield line
    }
    begun.push(last)
    if (done) break
  }
  const line = begun.join('')
  if (line.trim() !== '') yield line
}
