/** Arrays of JSON, cut into their items; files of rows whatever they are written as. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { itemsOf } from '../../src/evaluate/rows/json-array.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { RowsFile } from '../../src/evaluate/rows/rows-file.js'
import { surveyRows } from '../../src/evaluate/rows/survey.js'
import { all, inPieces, limits, rowText } from '../helpers/labelled.js'
import { createRandom, type Random } from '../helpers/random.js'

const items = async (text: string, length = 5) =>
  (await all(itemsOf(inPieces(text, length)))).map((item) => item.text)

/** Any value, with all that could end an item too early. */
function valueOf(random: Random, depth: number): unknown {
  const kind = random.integer(depth > 0 ? 6 : 4)
  if (kind === 4) return Array.from({ length: random.integer(4) }, () => valueOf(random, depth - 1))
  if (kind === 5) return { 'a,"]': valueOf(random, depth - 1), '}\\': valueOf(random, depth - 1) }
  return [random.integer(1000) / 8, null, true, '],[\\"{😀\n'][kind]
}

t.test(
  'the items of an array are those that JSON.parse finds, in pieces of any length',
  async (t) => {
    const random = createRandom(3)
    for (let round = 0; round < 40; round++) {
      const values = Array.from({ length: random.integer(5) }, () => valueOf(random, 3))
      const text = ` \n${JSON.stringify(values, null, random.integer(3))}\n `
      for (const length of [1, 2, 7, 10_000]) {
        t.strictSame(
          (await items(text, length)).map((item) => JSON.parse(item) as unknown),
          values,
        )
      }
    }
    t.strictSame(await items('\ufeff[1 , [2]]'), ['1 ', ' [2]'])
    // What is no JSON stays an item, whose reader says so.
    t.strictSame(await items('[1,,2,]'), ['1', '', '2', ''])
  },
)

t.test('what is no whole array is refused', async (t) => {
  for (const [text, message] of [
    ['[1,2', /^item 2: the array does not end/],
    ['', /^item 1: the array does not end/],
    ['[1] 2', /^item 2: expected nothing behind the array/],
    ['{}', /^item 1: expected an array/],
  ] as const) {
    await t.rejects(items(text), { code: 'ERR_BODY_INVALID', message }, text)
  }
})

t.test('rows of an array are those of lines, by their place in it', async (t) => {
  const texts = [rowText(0), rowText(1), rowText(2)]
  const read = async (text: string) =>
    (await all(rowsOf(inPieces(text, 11), limits))).map(({ record: _, ...row }) => row)
  const [lines, array] = [await read(texts.join('\n')), await read(`[${texts.join(',')}]`)]
  t.strictSame(
    array,
    lines.map((row) => ({ ...row, unit: 'item' })),
  )
  const broken = `[${texts[0]},\n\n${texts[1]!.replace('"sure":', '"sore":')}]`
  await t.rejects(read(broken), { message: /^item 2: expected\./ })
})

t.test('a gzip file is read like its contents, and so known again', async (t) => {
  const folder = t.testdir()
  const text = Array.from({ length: 200 }, (_, i) => `${rowText(i)}\n`).join('')
  const survey = async (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes)
    const file = await RowsFile.open(join(folder, name))
    const shares: number[] = []
    try {
      const read = await surveyRows(file, limits, { onProgress: (share) => shares.push(share) })
      return [read, shares.at(-1)]
    } finally {
      await file.close()
    }
  }
  const plain = await survey('rows', Buffer.from(text))
  t.equal(plain[1], 1)
  t.strictSame(await survey('rows.gz', gzipSync(text)), plain)
  // As `cat a.gz b.gz`.
  const half = text.indexOf('\n', 9000) + 1
  const parts = [gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]
  t.strictSame((await survey('two.gz', Buffer.concat(parts)))[0], plain[0])
  for (const cut of [3, 500]) {
    const [bytes, message] = [gzipSync(text).subarray(0, -cut), /^not a whole gzip file: /]
    await t.rejects(survey('cut.gz', bytes), { code: 'ERR_BODY_INVALID', message })
  }
})
