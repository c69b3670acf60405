/** The header of a GGUF file, whose tensors are not there. */
export function ggufHead(texts: Readonly<Record<string, string>>, tensors = 1): Buffer {
  const number64 = (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(value))
    return bytes
  }
  const number32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const text = (value: string) => [number64(Buffer.byteLength(value)), Buffer.from(value)]
  const entries = Object.entries(texts)
  return Buffer.concat([
    ...[Buffer.from('GGUF'), number32(3), number64(tensors), number64(entries.length + 2)],
    // Between them entries that are skipped: a list of texts, and a number.
    ...[...text('list'), number32(9), number32(8), number64(2), ...text('a'), ...text('bc')],
    ...[...text('count'), number32(4), number32(7)],
    ...entries.flatMap(([key, value]) => [...text(key), number32(8), ...text(value)]),
    ...Array.from({ length: tensors }, (_, i) => [
      ...text(`t${i}`),
      ...[number32(1), number64(1), number32(0), number64(0)],
    ]).flat(),
  ])
}
