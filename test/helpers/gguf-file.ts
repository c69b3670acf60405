/** GGUF files in memory: reads a whole file with its arrays, and writes it with other metadata. */
import { readFileSync, writeFileSync } from 'node:fs'

/** Numbers of half precision are their bits. */
export type MetaValue =
  string | number | boolean | readonly string[] | Float32Array | Uint16Array | Uint32Array

interface Tensor {
  readonly dims: readonly number[]
  readonly type: number
  readonly data: Buffer
}

export interface GgufFile {
  /** 64-bit integers become numbers; arrays of other types are left out. */
  readonly meta: ReadonlyMap<string, MetaValue>
  /** For every key, its type and value as they are in the file. */
  readonly raw: ReadonlyMap<string, Buffer>
  readonly tensors: ReadonlyMap<string, Tensor>
}

const align = 32
const widths = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]
const aligned = (bytes: number) => Math.ceil(bytes / align) * align

export function readGguf(path: string): GgufFile {
  const bytes = readFileSync(path)
  let at = 8
  const u32 = () => bytes.readUInt32LE((at += 4) - 4)
  const u64 = () => Number(bytes.readBigUInt64LE((at += 8) - 8))
  const text = () => {
    const length = u64()
    return bytes.toString('utf8', at, (at += length))
  }
  const scalar = (type: number): MetaValue => {
    const start = at
    at += widths[type]!
    if (type === 4) return bytes.readUInt32LE(start)
    if (type === 5) return bytes.readInt32LE(start)
    if (type === 6) return bytes.readFloatLE(start)
    if (type === 7) return bytes[start] === 1
    return Number(bytes.readBigUInt64LE(start))
  }
  const value = (type: number): MetaValue | undefined => {
    if (type === 8) return text()
    if (type !== 9) return scalar(type)
    const [of, count] = [u32(), u64()]
    if (of === 8) return Array.from({ length: count }, text)
    const start = at
    at += widths[of]! * count
    if (of === 4) {
      return Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32LE(start + 4 * i))
    }
    if (of !== 6) return undefined
    return Float32Array.from({ length: count }, (_, i) => bytes.readFloatLE(start + 4 * i))
  }
  const [tensorCount, metaCount] = [u64(), u64()]
  const meta = new Map<string, MetaValue>()
  const raw = new Map<string, Buffer>()
  for (let i = 0; i < metaCount; i++) {
    const key = text()
    const start = at
    const read = value(u32())
    if (read !== undefined) meta.set(key, read)
    raw.set(key, bytes.subarray(start, at))
  }
  const infos = Array.from({ length: tensorCount }, () => {
    const name = text()
    const dims = Array.from({ length: u32() }, u64)
    return { name, dims, type: u32(), offset: u64() }
  })
  const data = aligned(at)
  const ends = infos.map(({ offset }) => offset)
  const tensors = new Map(
    infos.map(({ name, dims, type, offset }) => {
      const end = Math.min(...ends.filter((other) => other > offset), bytes.length - data)
      return [name, { dims, type, data: bytes.subarray(data + offset, data + end) }]
    }),
  )
  return { meta, raw, tensors }
}

/** @param changes - New values; undefined removes a key. */
export function writeGguf(
  path: string,
  { raw, tensors }: GgufFile,
  changes: Readonly<Record<string, MetaValue | undefined>> = {},
): void {
  const values = new Map(raw)
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) values.delete(key)
    else values.set(key, rawOf(value))
  }
  let offset = 0
  const places = [...tensors].map(([name, { dims, type, data }]) => {
    const own = offset
    offset += aligned(data.length)
    return { name, dims, type, offset: own }
  })
  const head = headOf(values, places)
  const padded = (bytes: Buffer) => [bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]
  const data = [...tensors.values()].flatMap((tensor) => padded(tensor.data))
  writeFileSync(path, Buffer.concat([...padded(head), ...data]))
}

/** Of a tensor, what stands in the header. */
type TensorPlace = Omit<Tensor, 'data'> & { readonly name: string; readonly offset: number }

/** The header: its metadata as {@link rawOf} has them, and where its tensors are. */
export function headOf(
  values: ReadonlyMap<string, Buffer>,
  tensors: readonly TensorPlace[],
): Buffer {
  return Buffer.concat([
    ...[Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(values.size)],
    ...[...values].flatMap(([key, value]) => [text(key), value]),
    ...tensors.flatMap(({ name, dims, type, offset }) => [
      ...[text(name), u32(dims.length), ...dims.map(u64), u32(type), u64(offset)],
    ]),
  ])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])

/** Type and value. Integers are written as uint32, other numbers as floats. */
export function rawOf(value: MetaValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)])
  if (typeof value === 'boolean') return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])])
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return Buffer.concat([u32(4), u32(value)])
    const bytes = Buffer.alloc(4)
    bytes.writeFloatLE(value)
    return Buffer.concat([u32(6), bytes])
  }
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    const type = value instanceof Float32Array ? 6 : value instanceof Uint16Array ? 2 : 4
    return Buffer.concat([u32(9), u32(type), u64(value.length), bytes])
  }
  return Buffer.concat([u32(9), u32(8), u64(value.length), ...value.map(text)])
}
