/**
 * Lays out the packages as folders, from the sources alone: compiled from scratch, so that no
 * remains of old sources are in them.
 *
 * @module
 */

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { bundleConsole } from '../build/console.js'
import { root } from '../build/paths.js'
import { run } from '../build/run.js'
import { completeTypes } from './common-js.js'
import { copied, filesIn, guideFiles } from './files.js'
import { writeLicences } from './licences.js'
import {
  mainManifest,
  type Manifest,
  platformManifest,
  serverManifest,
  type System,
} from './manifests.js'

const require = createRequire(import.meta.url)

/** `oi-systemone`. Source maps are left out, like their sources. */
export async function stageMain(folder: string, packed: readonly System[]): Promise<void> {
  begin(folder, mainManifest(packed))
  const tsc = require.resolve('typescript/bin/tsc')
  const config = join(root, 'scripts', 'package', 'tsconfig.json')
  const dist = join(folder, 'dist')
  await run(process.execPath, [tsc, '--project', config, '--outDir', dist])
  await bundleConsole(join(dist, 'src', 'console'))
  completeTypes(join(dist, 'src'), ['index', 'client/index'])
  for (const name of filesIn(join(dist, 'scripts'))) {
    if (name.endsWith('.d.ts')) rmSync(join(dist, 'scripts', name))
  }
  for (const path of [...copied, ...guideFiles()]) {
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
}

/**
 * @param addonDir - The build folder of the addon.
 * @param llamaDir - The tree from which it was compiled.
 */
export function stagePlatform(
  folder: string,
  system: System,
  addonDir: string,
  llamaDir: string,
): void {
  const manifest = platformManifest(system)
  begin(folder, manifest)
  for (const name of ['oi.node', 'processor.node']) cpSync(join(addonDir, name), join(folder, name))
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeLicences(join(folder, 'licences'), llamaDir)
  writeFileSync(
    join(folder, 'README.md'),
    `# ${String(manifest['name'])}\n\n${String(manifest['description'])}. It is installed by itself.\n`,
  )
}

/** `@oi-systemone/server`. Its command is that of `oi-systemone`, which may lie elsewhere. */
export function stageServer(folder: string): void {
  begin(folder, serverManifest())
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(
    join(folder, 'oi.js'),
    `#!/usr/bin/env node
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const manifest = createRequire(import.meta.url).resolve('oi-systemone/package.json')
await import(new URL('dist/src/cli/main.js', pathToFileURL(manifest)).href)
`,
    { mode: 0o755 },
  )
  writeFileSync(
    join(folder, 'README.md'),
    `# @oi-systemone/server\n\n    npm install @oi-systemone/server\n    npx oi serve\n`,
  )
}

function begin(folder: string, manifest: Manifest): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}
