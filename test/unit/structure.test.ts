/**
 * Who may name whom: the import rules of the layout, read from the text of the sources.
 *
 * A folder of src/ without a rule fails, so that a new one is given its place here.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, posix } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { errorTable } from '../../src/errors.js'

/** Folders and files right under src/, and whose values each of them may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  chain: [],
  'package-root': [],
  'user-folder': [],
  'server-package': ['package-root', 'errors'],
  config: ['api', 'errors'],
  api: ['package-root', 'errors'],
  prompt: ['api', 'errors'],
  scoring: ['api', 'errors'],
  images: ['api', 'errors'],
  engine: ['package-root', 'errors'],
  runner: ['engine', 'chain', 'errors'],
  accounts: ['server-package', 'user-folder', 'api', 'errors'],
  admin: ['errors'],
  models: [
    ...['decide', 'engine', 'prompt', 'scoring', 'calibrate', 'api'],
    ...['package-root', 'user-folder', 'errors'],
  ],
  decide: ['prompt', 'scoring', 'images', 'api', 'errors'],
  evaluate: ['scoring', 'client', 'api', 'errors'],
  calibrate: ['evaluate', 'scoring', 'api', 'errors'],
  trace: ['package-root'],
  http: [
    ...['server-package', 'package-root', 'accounts', 'admin', 'engine', 'trace'],
    ...['api', 'chain', 'errors'],
  ],
  open: ['runner', 'decide', 'models', 'engine', 'calibrate', 'api', 'errors'],
  'open-all': ['open', 'decide', 'models', 'errors'],
  index: ['open', 'open-all', 'api', 'errors'],
  client: [],
  // Bundled for browsers: what it takes from there names nothing of Node.
  console: ['api', 'scoring', 'errors'],
  cli: [
    ...['open', 'runner', 'decide', 'models', 'engine', 'prompt', 'images', 'http', 'accounts'],
    ...[
      'admin',
      'trace',
      'api',
      'config',
      'client',
      'evaluate',
      'calibrate',
      'scoring',
      'package-root',
      'errors',
    ],
  ],
}

/** Modules of types only, which may be named beyond that: `import type`. */
const mayImportTypes: Readonly<Record<string, readonly string[]>> = {
  api: ['decide/types'],
  prompt: ['decide/types', 'engine/types', 'scoring/types'],
  scoring: ['decide/types', 'engine/types'],
  images: ['decide/types', 'engine/types'],
  decide: ['engine/types'],
  evaluate: ['decide/types'],
  calibrate: ['decide/types', 'evaluate/types'],
  http: ['decide/types', 'engine/types', 'runner/supervision'],
  index: ['decide/types', 'engine/types'],
  client: ['decide/types', 'errors'],
}

/** Packages that one part of the project keeps from all others. */
const owners: Readonly<Record<string, (path: string) => boolean>> = {
  'uWebSockets.js': (path) => /^src\/http\/uws-(?:transport|client)\.ts$/.test(path),
  typebox: (path) => /^src\/(?:api|config)\b/.test(path),
  'better-sqlite3': (path) => path.startsWith('src/accounts/'),
  '@huggingface/jinja': (path) => path.startsWith('src/prompt/'),
  sharp: (path) => path.startsWith('src/images/'),
  'prom-client': (path) => path === 'src/http/metrics.ts',
  pino: (path) => path === 'src/http/logger.ts',
  preact: (path) => path.startsWith('src/console/'),
  commander: (path) => path.startsWith('src/cli/'),
  'node:module': (path) => ['src/engine/native.ts', 'src/server-package.ts'].includes(path),
}

const longest = 300

interface Source {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

interface Import {
  readonly from: string
  readonly specifier: string
  readonly typesOnly: boolean
}

const typescript = ['src', 'test', 'scripts'].flatMap((folder) => sourcesIn(folder, /\.tsx?$/))
const native = sourcesIn('native', /\.(?:cc|h)$/)
const own = typescript.filter(({ path }) => path.startsWith('src/'))
const imports = own.flatMap(importsOf)

t.test('a part of src/ imports only what it may', async (t) => {
  for (const { from, specifier, typesOnly } of imports) {
    if (!specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(from), specifier).replace(/\.js$/, '')
    t.ok(target.startsWith('src/'), `${from} stays in src/: ${specifier}`)
    const [source, goal] = [partOf(from), partOf(target)]
    if (source === goal) continue
    const types = typesOnly && mayImportTypes[source]?.includes(target.slice('src/'.length))
    const allowed = types || mayImport[source]?.includes(goal)
    t.ok(allowed, `${from} may import ${typesOnly ? 'types of ' : ''}${target}`)
  }
})

t.test('a module of types has nothing but types', async (t) => {
  // Of errors.ts, the types are those of its codes.
  for (const name of new Set(Object.values(mayImportTypes).flat())) {
    if (name === 'errors') continue
    const { text } = own.find(({ path }) => path === `src/${name}.ts`)!
    t.notMatch(text, /^(?:export )?(?:const|let|var|function|class|enum)\b/m, name)
  }
})

t.test('every part of src/ has a rule', async (t) => {
  t.strictSame(
    [...new Set(own.map(({ path }) => partOf(path)))].filter((part) => !(part in mayImport)),
    [],
  )
})

t.test('a package is named only by the part that it belongs to', async (t) => {
  for (const { from, specifier } of imports) {
    for (const [name, owns] of Object.entries(owners)) {
      if (specifier !== name && !specifier.startsWith(`${name}/`)) continue
      t.ok(owns(from), `${from} may import ${specifier}`)
    }
  }
})

t.test('only a process’ own main ends it, and only engine/ loads native code', async (t) => {
  const mains = ['src/cli/main.ts', 'src/models/probe-main.ts', 'src/runner/main.ts']
  for (const { path, text } of own) {
    if (!mains.includes(path)) t.notMatch(text, /\bprocess\.(?:exit|abort|kill)\(/, path)
    if (path.startsWith('src/engine/')) continue
    t.notMatch(text, /dlopen|'[^']*\.node'/, path)
    if (path !== 'src/server-package.ts') t.notMatch(text, /createRequire/, path)
  }
})

t.test('the client runs wherever there is fetch: no packages, and nothing of Node', async (t) => {
  const client = own.filter(({ path }) => path.startsWith('src/client/'))
  t.ok(client.length > 0)
  for (const { from, specifier } of client.flatMap(importsOf)) {
    t.match(specifier, /^\./, `${from} may not import ${specifier}`)
  }
  for (const { path, text } of client) {
    t.notMatch(text, /\b(?:Buffer|NodeJS|require|setImmediate)\b|\b(?:process|global)\./, path)
  }
})

t.test('nothing has a default export', async (t) => {
  for (const { path, text } of typescript) {
    t.notMatch(text, /^export (?:default\b|\{[^}]*\bas default\b)/m, path)
  }
})

t.test('a folder of native/ includes only the libraries that it is for', async (t) => {
  const folders: readonly (readonly [RegExp, RegExp])[] = [
    [/^(?:napi|node_api|js_native_api|uv)\b/, /^native\/binding\//],
    [
      /^(?:llama|ggml|gguf|mtmd)\b/,
      /^native\/(?:engine|threads|tools|stress|kernels\/(?:ggml|test))\//,
    ],
    // ggml's own, which no other part of the project may know.
    [/^(?:traits|.*-impl)\.h$/, /^native\/kernels\/ggml\//],
  ]
  for (const { path, text } of native) {
    for (const [, header] of text.matchAll(/^\s*#\s*include\s+[<"]([^>"]+)[>"]/gm)) {
      for (const [library, folder] of folders) {
        if (library.test(header!)) t.match(path, folder, `${path} may include ${header}`)
      }
    }
  }
})

t.test('native/ imports from left to right', async (t) => {
  const behind: Readonly<Record<string, readonly string[]>> = {
    binding: ['frames', 'runtime', 'engine', 'machine', 'processor', 'transport'],
    frames: ['runtime', 'engine'],
    transport: [],
    runtime: ['engine', 'machine'],
    engine: ['kernels', 'threads', 'machine'],
    threads: ['machine'],
    machine: [],
    processor: [],
    kernels: [],
    tools: [],
    stress: ['runtime', 'engine'],
  }
  for (const { path, text } of native) {
    for (const [, header] of text.matchAll(/^#include "(\.\.\/[^"]+)"/gm)) {
      const [, from] = path.split('/')
      const [, folder] = posix.join(posix.dirname(path), header!).split('/')
      const allowed = folder === from || behind[from!]?.includes(folder!)
      t.ok(allowed, `${path} may include ${header}`)
    }
  }
})

t.test('every code in native/ is a key of the error table', async (t) => {
  const codes = native.flatMap(({ text }) => text.match(/(?<=")ERR_[A-Z_]+(?=")/g) ?? [])
  t.ok(codes.length > 0)
  for (const code of new Set(codes)) t.ok(code in errorTable, code)
})

t.test('every test that runs by itself is there', async (t) => {
  const { tap } = JSON.parse(read('package.json')!) as { tap: { serial: readonly string[] } }
  const sources = tap.serial.map((path) => path.replace(/^dist\//, '').replace(/\.js$/, '.ts'))
  for (const path of sources) t.ok(existsSync(join(root, path)), path)
})

t.test('no file is longer than 300 lines', async (t) => {
  for (const { path, text } of [...typescript, ...native]) {
    const lines = text.split('\n').length - 1
    t.ok(lines <= longest, `${path} has ${lines} lines`)
  }
})

const listed = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
const skip = listed.status === 0 ? false : 'this is not a git checkout'

t.test('nothing committed names a folder of this machine or a registry', { skip }, async (t) => {
  const machine = [root, homedir()].map((folder) => `${folder}/`)
  const registry = /\bregistry\.[a-z0-9-]+\.[a-z]|"resolved":|artifactory|\/\/npm\.[a-z]/i
  for (const path of listed.stdout.split('\0').filter(Boolean)) {
    const text = read(path)
    if (text === undefined || path === 'test/unit/structure.test.ts') continue
    for (const name of machine)
      t.notOk(text.includes(name), `${path} names no folder of this machine`)
    t.notMatch(text, /(?<![\w.:])\/(?:home|Users)\/\w/, path)
    t.notMatch(text, registry, path)
  }
})

/** `src/api/json.ts` -> `api`, `src/errors.ts` -> `errors`. */
function partOf(path: string): string {
  return path.split('/')[1]!.replace(/\.tsx?$/, '')
}

function importsOf({ path, text }: Source): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?\bfrom\s+'([^']+)'/gm)
  const others = text.matchAll(/\bimport\s*\(?\s*'([^']+)'/g)
  return [
    ...[...statements].map(([, type, specifier]) => ({
      from: path,
      specifier: specifier!,
      typesOnly: type !== undefined,
    })),
    ...[...others].map(([, specifier]) => ({
      from: path,
      specifier: specifier!,
      typesOnly: false,
    })),
  ]
}

function sourcesIn(folder: string, ending: RegExp): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: path.slice(root.length + 1).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
}

/** The text of a file that is there. */
function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}
