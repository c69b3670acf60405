/** The README keeps up with the code where that can be checked. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/config.js'
import { packageRoot } from '../../src/package-root.js'

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8')
// Tables are padded to their widest cell.
const readme = read('README.md').replace(/ +/g, ' ')

/** What an empty default means. */
const unset: Readonly<Record<string, string>> = {
  model: '`oi-small`',
  calibration: 'beside the model',
  modelsDir: '`models` in the data folder',
}

t.test('every setting is a row of the configuration table', async (t) => {
  for (const { name, flag, variable, default: standard } of settings) {
    const value = standard === '' ? (unset[name] ?? 'none') : `\`${standard}\``
    t.ok(readme.includes(`| \`${flag}\` | \`${variable}\` | ${value} |`), flag)
  }
})

t.test('every dependency says what it saves', async (t) => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) t.match(readme, `| \`${name}\` | `)
})
