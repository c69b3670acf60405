/**
 * Splits bytes that arrive in pieces of any size into lines of text.
 *
 * @module
 */

/**
 * Yields lines without their ends, and no empty ones. Pieces may cut a character.
 *
 * @param read - Reads the next piece.
 * @throws What `read` throws.
 */
export async function* linesOf(
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  // Joined once at the line's end, so that no byte of a long line is searched twice.
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
