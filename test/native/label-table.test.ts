/**
 * A question of 255 options can be asked with every vocabulary in llama.cpp's tree, as the guide
 * says. Needs the built addon; a small model is made for each vocabulary on first use.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { rowOf, vocabularies, type Row } from '../../scripts/label-table/rows.js'
import { guidePath, marks, tableOf } from '../../scripts/label-table/table.js'
import { textBetween } from '../../scripts/markdown.js'

// The first run makes nineteen models.
t.setTimeout(600_000)

const names = await vocabularies()
const rows: Row[] = []

for (const name of names) {
  t.test(`255 options with the vocabulary ${name}, each at its label`, async (t) => {
    const row = await rowOf(name)
    rows.push(row)
    t.ok(Math.min(row.labels.chat, row.labels.plain) >= 255)
  })
}

t.test("the table in the guide is the script's output", async (t) => {
  t.ok(names.length >= 12, `${names.length} vocabularies`)
  t.equal(textBetween(readFileSync(join(root, guidePath), 'utf8'), marks), tableOf(rows))
})
