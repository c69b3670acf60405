import t from 'tap'
import { drawTable } from '../../src/terminal/text-table.js'

t.test('columns are as wide as their cells, also with wide characters', async (t) => {
  const rows = [
    ['a', 'bb'],
    ['1', ''],
    ['日本', 'x\ny'],
  ]
  t.equal(
    drawTable(rows),
    [
      ...['┌──────┬─────┐', '│ a    │ bb  │', '├──────┼─────┤', '│ 1    │     │'],
      ...['├──────┼─────┤', '│ 日本 │ x y │', '└──────┴─────┘'],
    ].join('\n'),
  )
})

t.test('a table of 10,000 rows is drawn within a second', async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, i) => [
    ...[String(i), `name ${i}`, 'default', 'oi-…abcd', '2026-01-01 00:00:00', '-', '-'],
  ])
  const times = [0, 1, 2].map(() => {
    const begunMs = performance.now()
    t.equal(drawTable(rows).split('\n').length, 20_001)
    return performance.now() - begunMs
  })
  t.ok(Math.min(...times) < 1000, `${Math.min(...times)} ms`)
})
