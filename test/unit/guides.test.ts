/** The guides agree with the code where a test can see it: links, names, examples, sizes. */
import t from 'tap'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { inGuide } from '../../scripts/markdown.js'
import { copied, filesIn, guideFiles } from '../../scripts/package/files.js'
import { tables } from '../../scripts/tables/tables.js'
import { readBatch } from '../../src/api/read-batch.js'
import { readRequest } from '../../src/api/read-request.js'
import { readConfigFile } from '../../src/config/file.js'
import { OiError } from '../../src/errors.js'
import { anchors, blocks, commands, guides, links, prose, readGuide } from '../helpers/guides.js'

const { scripts, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
  dependencies: Readonly<Record<string, string>>
}
const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }

/** A guide and one of its links: the target file, as a path from the root, and the anchor. */
const everyLink = guides.flatMap((guide) =>
  links(readGuide(guide)).map((link) => {
    const [path, anchor] = link.split('#') as [string, string?]
    return { guide, link, anchor, target: path === '' ? guide : posix.join(dirname(guide), path) }
  }),
)

t.test('every link of a guide leads to a file, and to a heading in it', async (t) => {
  t.ok(everyLink.length > 100, `${everyLink.length} links`)
  const dead = everyLink.filter(({ target, anchor }) => {
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchors(readGuide(target)).includes(anchor)
  })
  const shown = dead.map(({ guide, link }) => `${guide}: ${link}`)
  t.strictSame(shown, [])
})

t.test("the targets of the README's links are in the package", async (t) => {
  const packed = [...copied, ...guideFiles()]
  const missing = everyLink
    .filter(({ guide }) => guide === 'README.md')
    .filter(
      ({ target }) => !packed.some((path) => target === path || target.startsWith(`${path}/`)),
    )
  t.strictSame(
    missing.map(({ link }) => link),
    [],
  )
})

t.test('a guide is short: 20 KB, the README 25 KB', async (t) => {
  const most = (guide: string) => (guide === 'README.md' ? 25_000 : 20_000)
  const long = guides.filter((guide) => Buffer.byteLength(readGuide(guide)) > most(guide))
  t.strictSame(long, [])
})

const sources = ['src', 'native', 'scripts', 'test'].flatMap((folder) =>
  filesIn(join(root, folder)).map((name) => `/${folder}/${name}`),
)

t.test('every file that a map of the code names exists', async (t) => {
  const named = ['src', 'native', 'native/kernels'].flatMap((folder) => [
    ...prose(readGuide(`${folder}/README.md`)).matchAll(/`(?:\.\.\/)?([\w./-]+\.(?:tsx?|cc|h))`/g),
  ])
  t.ok(named.length > 100, `${named.length} names`)
  t.strictSame(
    named
      .map(([, name]) => name!)
      .filter((name) => !sources.some((path) => path.endsWith(`/${name}`))),
    [],
  )
})

t.test('every method that a map of the code names exists', async (t) => {
  const text = sources
    .filter((path) => /^\/(?:src|native)\/.*\.(?:ts|cc|h)$/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n')
  const named = ['src/README.md', 'native/README.md'].flatMap((guide) => [
    ...readGuide(guide).matchAll(/`([A-Z]\w+)(::|\.)(?!txt`)(\w+)`/g),
  ])
  t.ok(named.length > 10, `${named.length} methods`)
  const isThere = ([, owner, separator, name]: RegExpExecArray) =>
    text.includes(`class ${owner} `) &&
    (separator === '::'
      ? new RegExp(`\\b${name}\\(`).test(text)
      : new RegExp(`^  (?:async )?${name}\\(`, 'm').test(text))
  const absent = named.filter((match) => !isThere(match)).map(([method]) => method)
  t.strictSame(absent, [])
})

t.test('every npm script that a guide names exists', async (t) => {
  const named = new Set(
    guides.flatMap((guide) =>
      [...readGuide(guide).matchAll(/npm run (?:--silent )?(\w+(?:[:-]\w+)*)/g)].map(
        ([, name]) => name!,
      ),
    ),
  )
  t.ok(named.size > 15, `${named.size} scripts`)
  const unknown = [...named].filter((name) => !(name in scripts))
  t.strictSame(unknown, [])
})

t.test('every example of a request, a batch or a settings file is accepted', async (t) => {
  const seen = { request: 0, batch: 0, settings: 0 }
  for (const guide of guides) {
    for (const text of blocks(readGuide(guide), 'json')) {
      const value = JSON.parse(text) as Readonly<Record<string, unknown>>
      if ('state' in value && 'questions' in value) {
        seen.request++
        t.doesNotThrow(() => readRequest(text, limits), guide)
      } else if ('requests' in value || 'states' in value) {
        seen.batch++
        const { items } = readBatch(text, limits)
        t.ok(items.length > 0 && items.every(({ request }) => !(request instanceof OiError)), guide)
      } else if ('port' in value && 'models' in value) {
        seen.settings++
        const path = join(t.testdir({ 'oi.json': text }), 'oi.json')
        t.doesNotThrow(() => readConfigFile(path), guide)
      }
    }
  }
  t.strictSame(seen, { request: 2, batch: 2, settings: 1 })
})

t.test('every npm command knows its flags', async (t) => {
  const flags = new Map<string, Set<string>>()
  for (const command of guides.flatMap((guide) => commands(readGuide(guide)))) {
    const [, name, args] = /\bnpm run (?:--silent )?([\w:-]+) -- (.*)/.exec(command) ?? []
    if (name === undefined) continue
    const found = flags.get(name) ?? new Set()
    for (const [flag] of args!.matchAll(/(?<=^|\s)--[\w-]+/g)) found.add(flag)
    flags.set(name, found)
  }
  t.ok(flags.size > 5, [...flags.keys()].join())
  // As `parseArgs` takes them: keys of an object in the script's folder.
  const unknown = [...flags].flatMap(([name, found]) => {
    const [, folder] = /node dist\/(scripts\/[\w-]+)/.exec(scripts[name]!)!
    const text = sources
      .filter((path) => path.startsWith(`/${folder}/`) && path.endsWith('.ts'))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n')
    return [...found]
      .filter(
        (flag) => !new RegExp(`(?<![\\w-])'?${flag.slice(2)}'?: |'${flag.slice(2)}'`).test(text),
      )
      .map((flag) => `${name} ${flag}`)
  })
  t.strictSame(unknown, [])
})

t.test('the guide to the settings has the table of all settings', async (t) => {
  const { settings } = tables
  t.equal(inGuide(settings), settings.make(), 'npm run settings writes it')
})

t.test('every dependency has a reason', async (t) => {
  const readme = readGuide('README.md')
  t.strictSame(
    Object.keys(dependencies).filter((name) => !readme.includes(`| \`${name}\` | `)),
    [],
  )
})
