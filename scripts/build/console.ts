/**
 * Bundles the web console, unless its sources are unchanged.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { root } from './paths.js'

const require = createRequire(import.meta.url)
const source = join(root, 'src', 'console')
/** Where the server finds it. */
const builtDir = join(root, 'dist', 'src', 'console')

/** The path at which it is served. */
const base = '/console/'

/** Browsers since the spring of 2024: the first that know `light-dark()`. */
const target = ['chrome123', 'firefox120', 'safari17.5']

/** Builds the console of a checkout, in the server's folder. */
export async function buildConsole(): Promise<void> {
  const stamp = join(root, 'build', 'console.sha256')
  const digest = sourcesDigest()
  if (existsSync(join(builtDir, 'index.html')) && readStamp(stamp) === digest) return
  await bundleConsole(builtDir)
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, digest)
}

/** Builds the console in a folder, which holds nothing else. */
export async function bundleConsole(outDir: string): Promise<void> {
  // Loaded here: a checkout that only compiles the addon may have no Vite.
  const { build } = await import('vite')
  await build({
    root: source,
    configFile: false,
    base,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: true,
      target,
      // A data URL would be another source to allow in the Content-Security-Policy.
      assetsInlineLimit: 0,
      // One file of code: nothing to preload, and no inline script.
      modulePreload: false,
      reportCompressedSize: false,
    },
  })
  const preact = dirname(require.resolve('preact/package.json'))
  copyFileSync(join(preact, 'LICENSE'), join(outDir, 'preact.LICENSE.txt'))
}

function readStamp(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** Hash of all sources and of the versions of the bundlers. */
function sourcesDigest(): string {
  const hash = createHash('sha256')
  const folders = [source, join(root, 'src', 'api'), join(root, 'src', 'scoring')]
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  const others = ['src/errors.ts', 'scripts/build/console.ts', 'package-lock.json']
  for (const path of [...files.sort(), ...others.map((name) => join(root, name))]) {
    hash.update(path).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}
