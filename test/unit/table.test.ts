import t from 'tap'
import { layOut, textTable } from '../../src/terminal/text-table.js'

t.test('columns are as wide as their cells, also with wide characters', async (t) => {
  const rows = [
    ['a', 'bb'],
    ['1', ''],
    ['日本', 'x y'],
  ]
  t.strictSame(layOut(rows), ['a     bb', '1', '日本  x y'])
  t.strictSame(layOut(rows, { aligns: ['right'] }), ['   a  bb', '   1', '日本  x y'])
})

t.test('a text that is too long for its column is cut off, and its colour ends', async (t) => {
  const red = '\x1b[31mabcdef\x1b[39m'
  t.strictSame(layOut([['日本語', 'x']], { widths: [4] }), ['日…   x'])
  t.strictSame(layOut([[red, 'x']], { widths: [4] }), ['\x1b[31mabc…\x1b[39m  x'])
})

t.test('a table has as many of its columns as fit, the first ones', async (t) => {
  const columns = { name: () => 'one\ntwo', state: () => 'ready', 'since (UTC)': () => '2026' }
  const full = textTable([{}], columns)
  t.strictSame(full, { lines: ['name     state  since (UTC)', 'one two  ready  2026'], left: [] })
  t.strictSame(textTable([{}], columns, 27), full)
  t.strictSame(textTable([{}], columns, 26), {
    ...{ lines: ['name     state', 'one two  ready'], left: ['since (UTC)'] },
  })
  t.strictSame(textTable([{}], columns, 3).lines, ['name', 'one two'])
})
