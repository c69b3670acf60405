/**
 * A question of 255 options can be asked with every vocabulary in llama.cpp's tree, as the guide
 * says. Needs the built addon; a small model is made for each vocabulary on first use.
 */
import t from 'tap'
import { inGuide } from '../../scripts/markdown.js'
import { rowOf, type Row, tableOf, vocabularies } from '../../scripts/tables/labels.js'
import { tables } from '../../scripts/tables/tables.js'

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
  t.equal(inGuide(tables.labels), tableOf(rows))
})
