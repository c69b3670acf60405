/**
 * The layout's import rules (helpers/import-rules.ts). One assertion per rule, which lists the offenders.
 *
 * A folder of src/ without a rule fails, so that a new folder is given its place there.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, posix } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { errorTable } from '../../src/errors.js'
import { httpFolders, mayImport, mayImportTypes, owners } from '../helpers/import-rules.js'
import { type Import, importsOf, type Source, sourcesIn } from '../helpers/sources.js'

const longest = 300

const typescript = ['src', 'test', 'scripts'].flatMap((folder) => sourcesIn(folder, /\.tsx?$/))
const native = sourcesIn('native', /\.(?:cc|h)$/)
const own = typescript.filter(({ path }) => path.startsWith('src/'))
const imports = own.flatMap(importsOf)
const includes = native.flatMap(({ path, text }) =>
  [...text.matchAll(/^\s*#\s*include\s+[<"]([^>"]+)[>"]/gm)].map(([, header]) => ({
    path,
    specifier: header!,
    typesOnly: false,
  })),
)

rule('a part of src/ imports only what it may', () => {
  const inside = imports.filter(({ specifier }) => specifier.startsWith('.'))
  return found(inside, 1000).filter(({ path, specifier, typesOnly }) => {
    const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '')
    const [source, goal] = [partOf(path), partOf(target)]
    if (!target.startsWith('src/')) return true
    if (source === goal) return false
    const types = typesOnly && mayImportTypes[source]?.includes(target.slice('src/'.length))
    return !types && !mayImport[source]?.includes(goal)
  })
})

rule('a folder of src/http/ imports only those below it', () => {
  const folderOf = (path: string) => /^src\/http\/([^/]+)\//.exec(path)?.[1]
  const inside = imports.filter(({ path }) => folderOf(path) !== undefined)
  return found(inside, 50).filter(({ path, specifier }) => {
    const [source, target] = [folderOf(path)!, folderOf(posix.join(posix.dirname(path), specifier))]
    return target !== undefined && target !== source && !httpFolders[source]?.includes(target)
  })
})

rule('no modules import each other in a circle', () => {
  const behind = new Map<string, string[]>()
  for (const { path, specifier, typesOnly } of imports) {
    if (typesOnly || !specifier.startsWith('.')) continue
    const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '')
    const file = [`${target}.ts`, `${target}.tsx`].find((name) => existsSync(join(root, name)))
    if (file !== undefined) behind.set(path, [...(behind.get(path) ?? []), file])
  }
  const circles: string[] = []
  const seen = new Set<string>()
  const visit = (path: string, above: readonly string[]) => {
    if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' > '))
    if (seen.has(path)) return
    seen.add(path)
    for (const next of behind.get(path) ?? []) visit(next, [...above, path])
  }
  for (const path of found([...behind.keys()], 300)) visit(path, [])
  return circles
})

rule('a module of types has nothing but types', () => {
  // Of errors.ts only the types of its codes.
  const names = Object.values(mayImportTypes).flat()
  return own
    .filter(({ path }) => path !== 'src/errors.ts')
    .filter(({ path }) => names.some((name) => path === `src/${name}.ts`))
    .filter(({ text }) => /^(?:export )?(?:const|let|var|function|class|enum)\b/m.test(text))
})

rule('every part of src/ has a rule', () => own.filter(({ path }) => !(partOf(path) in mayImport)))

rule('a package is named only by the part that it belongs to', () =>
  imports.filter(({ path, specifier }) =>
    Object.entries(owners).some(
      ([name, owns]) => `${specifier}/`.startsWith(`${name}/`) && !owns(path),
    ),
  ),
)

rule('only a process’ own main ends it', () => {
  const mains = ['src/cli/main.ts', 'src/runner/main.ts']
  return own
    .filter(({ path }) => !mains.includes(path))
    .filter(({ text }) => /\bprocess\.(?:exit|abort|kill)\(/.test(text))
})

rule('only engine/ loads native code', () =>
  own
    .filter(({ path }) => !path.startsWith('src/engine/'))
    .filter(({ path, text }) => {
      const requires = path !== 'src/server-package.ts' && text.includes('createRequire')
      return requires || /dlopen|'[^']*\.node'/.test(text)
    }),
)

const client = own.filter(({ path }) => path.startsWith('src/client/'))

rule('the client names no packages', () =>
  found(client, 10)
    .flatMap(importsOf)
    .filter(({ specifier }) => !specifier.startsWith('.')),
)

rule('the client runs wherever there is fetch: it names nothing of Node', () => {
  const node = /\b(?:Buffer|NodeJS|require|setImmediate)\b|\b(?:process|global)\./
  return client.filter(({ text }) => node.test(text))
})

rule('nothing has a default export', () =>
  typescript.filter(({ text }) => /^export (?:default\b|\{[^}]*\bas default\b)/m.test(text)),
)

rule('a folder of native/ includes only the libraries that it is for', () => {
  const folders: readonly (readonly [RegExp, RegExp])[] = [
    [/^(?:napi|node_api|js_native_api|uv)\b/, /^native\/binding\//],
    [
      /^(?:llama|ggml|gguf|mtmd)\b/,
      /^native\/(?:engine|threads|tools|stress|kernels\/(?:ggml|test))\//,
    ],
    // llama.cpp's own headers, and ggml's, which no other part of the project may know.
    [/^llama-.*\.h$/, /^native\/engine\/(cache\/llama_caches\.h|logits\/output_turns\.cc)$/],
    [/^(?:traits|.*-impl)\.h$/, /^native\/kernels\/ggml\//],
  ]
  return found(includes, 1000).filter(({ path, specifier }) =>
    folders.some(([library, folder]) => library.test(specifier) && !folder.test(path)),
  )
})

rule('native/ imports from left to right', () => {
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
    'kernels/test': ['threads'],
    tools: ['kernels', 'threads'],
    stress: ['runtime', 'engine', 'kernels'],
  }
  const across = includes.filter(({ specifier }) => specifier.startsWith('../'))
  return found(across, 100).filter(({ path, specifier }) => {
    const [, from, part] = path.split('/') as [string, string, string]
    const folder = posix.join(posix.dirname(path), specifier).split('/')[1]!
    const allowed = behind[`${from}/${part}`] ?? behind[from]
    return folder !== from && !allowed?.includes(folder)
  })
})

rule('every code in native/ is a key of the error table', () => {
  const codes = native.flatMap(({ text }) => text.match(/(?<=")ERR_[A-Z_]+(?=")/g) ?? [])
  return found(codes, 10).filter((code) => !(code in errorTable))
})

rule('every test that runs by itself is there', () => {
  const { tap } = JSON.parse(read('package.json')!) as { tap: { serial: readonly string[] } }
  const sources = tap.serial.map((path) => path.replace(/^dist\//, '').replace(/\.js$/, '.ts'))
  return sources.filter((path) => !existsSync(join(root, path)))
})

rule('no file is longer than 300 lines', () =>
  [...typescript, ...native].filter(({ text }) => text.split('\n').length - 1 > longest),
)

const listed = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
const skip = listed.status === 0 ? false : 'this is not a git checkout'

rule(
  'nothing committed names a folder of this machine or a registry',
  () => {
    const machine = [root, homedir()].map((folder) => `${folder}/`)
    const registry = /\bregistry\.[a-z0-9-]+\.[a-z]|"resolved":|artifactory|\/\/npm\.[a-z]/i
    const home = /(?<![\w.:])\/(?:home|Users)\/\w/
    const committed = listed.stdout
      .split('\0')
      .filter((path) => path !== '' && path !== 'test/unit/structure.test.ts')
      .map((path) => ({ path, text: read(path) ?? '' }))
    return found(committed, 1000).filter(
      ({ text }) =>
        machine.some((name) => text.includes(name)) || home.test(text) || registry.test(text),
    )
  },
  { skip },
)

/** A test that passes if a rule is kept, and otherwise lists the offenders. */
function rule(
  title: string,
  offenders: () => readonly (Source | Import | string)[],
  options: { skip?: string | false } = {},
): void {
  t.test(title, options, async (t) => {
    const names = offenders().map((one) => {
      if (typeof one === 'string') return one
      return 'specifier' in one ? `${one.path}: ${one.specifier}` : one.path
    })
    t.strictSame(names, [])
  })
}

/** The same list. @throws Error if it is implausibly short. */
function found<T>(list: readonly T[], least: number): readonly T[] {
  if (list.length < least) throw new Error(`only ${list.length} were found`)
  return list
}

/** `src/api/json.ts` -> `api`, `src/errors.ts` -> `errors`. */
function partOf(path: string): string {
  return path.split('/')[1]!.replace(/\.tsx?$/, '')
}

/** The text of an existing file. */
function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}
