/**
 * Bodies compressed by gzip, where the runtime can and they are long enough to gain.
 *
 * @module
 */

/** A shorter body fits into one packet as it is. */
const leastBytes = 1024

/** @returns Undefined for a body that is to be sent as it is. */
export async function compressed(text: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // Old browsers have none.
  if (text.length < leastBytes || typeof CompressionStream === 'undefined') return undefined
  const gzip = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(gzip).arrayBuffer())
}
