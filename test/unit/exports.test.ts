/** What a file exports is used elsewhere: else a reader looks for users that do not exist. */
import t from 'tap'
import { sourcesIn } from '../helpers/sources.js'

const exported =
  /^export (?:(?:abstract|async|const) )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

t.test('what is exported is named by another file', (t) => {
  const sources = ['src', 'test', 'scripts'].flatMap((folder) => sourcesIn(folder, /\.tsx?$/))
  const words = sources.map(({ text }) => new Set(text.match(/\w+/g)))
  const names = sources.flatMap(({ path, text }, i) =>
    Array.from(text.matchAll(exported), ([, name]) => ({ i, path, name: name! })),
  )
  t.ok(names.length > 1000)
  const unused = names.filter(({ i, name }) => !words.some((file, j) => j !== i && file.has(name)))
  const shown = unused.map(({ path, name }) => `${path}: ${name}`)
  t.strictSame(shown, [])
  t.end()
})
