/** The README keeps up with the code where that can be checked. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textBetween } from '../../scripts/markdown.js'
import { guidePath, marks, settingsTable } from '../../scripts/settings-table/table.js'
import { packageRoot } from '../../src/package-root.js'

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8')
// Tables are padded to their widest cell.
const readme = read('README.md').replace(/ +/g, ' ')

t.test('the guide to the settings has the table of all of them', async (t) => {
  t.equal(textBetween(read(guidePath), marks), settingsTable(), 'npm run settings writes it')
})

t.test('every dependency says what it saves', async (t) => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) t.match(readme, `| \`${name}\` | `)
})
