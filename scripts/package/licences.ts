/**
 * The licences of all code in the addon, taken from the sources from which it was compiled.
 *
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)
const fromCmakeJs = createRequire(require.resolve('cmake-js/package.json'))

interface Part {
  readonly name: string
  /** An SPDX expression. */
  readonly licence: string
  /** The file with its text, or with the text in its comments. */
  readonly file: string
  /** The first and last words of the text, if it is only a part of the file. */
  readonly within?: readonly [string, string]
}

/** Of llama.cpp's tree, as far as it is linked in: its audio, image and JSON readers are not. */
const llama: readonly Part[] = [
  { name: 'llama.cpp', licence: 'MIT', file: 'LICENSE' },
  {
    name: 'sgemm of llamafile',
    licence: 'MIT',
    file: 'ggml/src/ggml-cpu/llamafile/sgemm.cpp',
    within: ['// Copyright', '// SOFTWARE.'],
  },
  { name: 'sha256', licence: 'LicenseRef-public-domain', file: 'vendor/hash/sha256/LICENSE' },
  { name: 'rotate-bits', licence: 'MIT', file: 'vendor/hash/rotate-bits/LICENSE.md' },
]

/** Packages: one of this project's, and the headers of cmake-js. */
const packages: readonly Part[] = [
  {
    name: 'node-addon-api',
    licence: 'MIT',
    file: require.resolve('node-addon-api/LICENSE.md'),
  },
  {
    name: 'node-api-headers',
    licence: 'MIT',
    file: fromCmakeJs.resolve('node-api-headers/LICENSE'),
  },
]

/**
 * The C++ library is linked in. Its exception allows any licence for the result, and requires no
 * text beside it.
 */
const runtime = {
  name: 'libstdc++',
  licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
}

/**
 * Writes one file for each part, and a list of them.
 *
 * @param llamaDir - The tree that the addon was compiled from.
 * @throws If a text is not at its expected place.
 */
export function writeLicences(folder: string, llamaDir: string): void {
  mkdirSync(folder, { recursive: true })
  const lines = ['# What is compiled into the addon', '', '| Part | Licence | Text |', '|-|-|-|']
  const add = (part: Part, path: string) => {
    const name = `${part.name.replaceAll(/[^\w.-]+/g, '-')}.txt`
    writeFileSync(join(folder, name), textOf(part, path))
    lines.push(`| ${part.name} | ${part.licence} | [${name}](${name}) |`)
  }
  for (const part of llama) add(part, join(llamaDir, part.file))
  for (const part of packages) add(part, part.file)
  lines.push(`| ${runtime.name} | ${runtime.licence} | |`, '')
  writeFileSync(join(folder, 'README.md'), lines.join('\n'))
}

function textOf({ within }: Part, path: string): string {
  const text = readFileSync(path, 'utf8')
  if (within === undefined) return text
  const from = text.indexOf(within[0])
  const to = text.indexOf(within[1], from)
  if (from < 0 || to < 0) throw new Error(`${path}: expected the text of a licence`)
  const part = text.slice(from, to + within[1].length)
  return `${part.replaceAll(/^\/\/ ?/gm, '')}\n`
}
