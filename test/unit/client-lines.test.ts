/** The reader of streams: bytes in pieces, lines out. */
import t from 'tap'
import { linesOf } from '../../src/client/lines.js'

/** The lines of a text that arrives in these pieces. */
async function read(pieces: readonly Uint8Array[]): Promise<string[]> {
  const left = [...pieces]
  const lines: string[] = []
  const next = async () => ({ done: left.length === 0, value: left.shift() })
  for await (const line of linesOf(next)) lines.push(line)
  return lines
}

const cut = (text: string, size: number) => {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}

t.test('pieces of any size give the same lines, characters of four bytes too', async (t) => {
  const lines = ['{"a":"é€"}', '{"b":"👍🏽 \\n"}', '[]']
  for (let size = 1; size < 40; size++) {
    t.strictSame(await read(cut(`${lines.join('\n')}\n`, size)), lines, `pieces of ${size}`)
  }
})

t.test('the last line needs no end, and empty lines are skipped', async (t) => {
  t.strictSame(await read(cut('1\n\n \r\n2\r\n3', 2)), ['1', '2\r', '3'])
  t.strictSame(await read(cut('', 1)), [])
  t.strictSame(await read(cut('\n\n', 1)), [])
})

t.test('a piece may be empty, or hold many lines', async (t) => {
  const empty = new Uint8Array()
  t.strictSame(await read([empty, ...cut('1\n2\n3\n4', 99), empty, ...cut('5\n', 9)]), [
    ...['1', '2', '3', '45'],
  ])
})

t.test('a line is yielded as soon as it ends', async (t) => {
  const reads = [
    { done: false, value: new TextEncoder().encode('1\n2') },
    { done: true, value: undefined },
  ]
  const lines = linesOf(async () => reads.shift()!)
  t.strictSame(await lines.next(), { done: false, value: '1' })
  t.equal(reads.length, 1)
  t.strictSame(await lines.next(), { done: false, value: '2' })
  t.strictSame(await lines.next(), { done: true, value: undefined })
})

t.test('a failure of the source is passed on', async (t) => {
  const lines = linesOf(() => Promise.reject(new Error('cut')))
  await t.rejects(lines.next(), { message: 'cut' })
})
