/**
 * Node's releases, npm and npm's other downloads: everything from packages of npm.
 *
 * @module
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'
import { matrixDir } from './debian.js'

export interface NodeRelease {
  /** As `22.22.0`. */
  readonly version: string
  /** The folder that has `bin/node` and `include/node`. */
  readonly folder: string
}

/**
 * Node's own binaries and headers, repackaged.
 *
 * @param name - A major version, or `latest`: the newest that npm has.
 * @param cpu - For which processor, as npm names it.
 * @throws {@link BuildError} if npm has no such release.
 */
export async function nodeRelease(name: string, cpu: string = process.arch): Promise<NodeRelease> {
  const packageName = `node-linux-${cpu}`
  const folder = await installed(`node-${name}-${cpu}`, `${packageName}@${name}`, packageName, cpu)
  return { version: versionIn(folder), folder }
}

/** The folder of the last npm that runs on every release of Node here. */
export async function npmPackage(): Promise<string> {
  return installed('npm', 'npm@11', 'npm')
}

/**
 * Whether the release gets version 12 of better-sqlite3: Node 20, whose Node-API is too old for
 * version 13.
 */
export function needsOlderSqlite(node: NodeRelease): boolean {
  return parseInt(node.version) < 22
}

/**
 * The folder of better-sqlite3 12 with its binary, which not every machine can download: compiled
 * here, once for all releases of Node with compatible addons.
 *
 * @param npm - The folder of npm, which has node-gyp.
 * @throws {@link BuildError} if it cannot be compiled.
 */
export async function betterSqlite(node: NodeRelease, npm: string): Promise<string> {
  const source = join(root, 'node_modules', 'better-sqlite3')
  const modules = modulesOf(node)
  // The project's own copy was compiled for such a release.
  if (modules === process.versions.modules) return source
  const folder = join(matrixDir, `better-sqlite3-${versionIn(source)}-modules-${modules}`)
  if (existsSync(folder)) return folder
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  cpSync(source, unfinished, {
    recursive: true,
    filter: (path) => path !== join(source, 'build'),
  })
  console.error(`better-sqlite3 is compiled for Node ${node.version}`)
  const nodeGyp = join(npm, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  const rebuild = [nodeGyp, 'rebuild', '--release', '--silent', `--nodedir=${node.folder}`]
  await run(join(node.folder, 'bin', 'node'), rebuild, { cwd: unfinished, quiet: true })
  const binary = join('build', 'Release', 'better_sqlite3.node')
  if (!existsSync(join(unfinished, binary))) throw new BuildError(`${unfinished} has no ${binary}`)
  renameSync(unfinished, folder)
  return folder
}

/** The number of the interface that addons are compiled for, as `process.versions.modules`. */
function modulesOf({ folder }: NodeRelease): string {
  const header = join(folder, 'include', 'node', 'node_version.h')
  const found = /^#define NODE_MODULE_VERSION (\d+)$/m.exec(readFileSync(header, 'utf8'))
  if (found === null) throw new BuildError(`${header} has no NODE_MODULE_VERSION`)
  return found[1]!
}

/** Installs a package in its own folder, or updates it. */
async function installed(
  name: string,
  wanted: string,
  packageName: string,
  cpu: string = process.arch,
): Promise<string> {
  const folder = join(matrixDir, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const quiet = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  // --cpu chooses among optional packages alone; npm refuses a package that is named.
  const other = cpu === process.arch ? [] : ['--force']
  await run('npm', ['install', ...quiet, ...other, wanted], { cwd: folder, quiet: true })
  return join(folder, 'node_modules', packageName)
}

function versionIn(folder: string): string {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version.replace(/^v/, '')
}
