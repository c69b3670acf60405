/**
 * The file of a user's own readout (`--readout`).
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import { fileText } from '../api/file-text.js'
import { OiError } from '../errors.js'
import { requireFile } from '../open-input.js'
import { named } from '../prompt/custom/faults.js'
import { parseReadout, parseTemplateReadout } from '../prompt/custom/parse.js'
import type { ChosenReadout, CustomReadout } from '../prompt/custom/types.js'
import { lettersOne } from '../prompt/letters.js'
import { lettersTwo } from '../prompt/letters-two.js'

const versions = [lettersOne, lettersTwo]

/** Names of readouts that need no file and suit any model. */
const readoutNames: readonly string[] = versions.map(({ name }) => name)

/**
 * The readout that `--readout` names: one of {@link readoutNames}, or a file.
 *
 * @throws {@link OiError} `ERR_READOUT` as {@link readReadoutFile}.
 */
export async function chosenReadout(nameOrPath: string): Promise<ChosenReadout> {
  const known = versions.find(({ name }) => name === nameOrPath)
  if (known !== undefined) return known
  await requireFile(nameOrPath, 'ERR_READOUT')
  return readReadoutFile(nameOrPath)
}

/**
 * Reads a readout and checks everything that can be checked without a model.
 *
 * @param path - A `.json` file, or a `.jinja` file, which is a template alone. `templateFile` in a
 *   `.json` file is resolved from its folder.
 * @returns The readout. Without a name of its own it is named by the file and by 8 hex digits of
 *   the SHA-256 of all files that were read.
 * @throws {@link OiError} `ERR_READOUT` naming the file and, in it, the place and what is expected.
 */
export function readReadoutFile(path: string): CustomReadout {
  const hash = createHash('sha256')
  const readText = (file: string) => {
    const text = decoded(readBytes(file))
    hash.update(text)
    return text
  }
  try {
    const ending = extname(path).toLowerCase()
    if (ending !== '.json' && ending !== '.jinja') {
      throw new OiError(
        'ERR_READOUT',
        `expected ${readoutNames.join(', ')} or a file that ends in .json or .jinja`,
      )
    }
    const text = readText(path)
    const content =
      ending === '.json'
        ? parseReadout(text, (file) => readText(resolve(dirname(path), file)))
        : parseTemplateReadout(text)
    const stem = basename(path, extname(path)).replace(/[^A-Za-z0-9._-]+/g, '-')
    const name = content.name ?? `${stem}@${hash.digest('hex').slice(0, 8)}`
    return { ...content, file: path, name }
  } catch (error) {
    throw named(path, error)
  }
}

function readBytes(path: string): Buffer {
  try {
    // A FIFO is not waited for: a readout may name a second file.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return readFileSync(file)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? `there is no file ${path}` : message
    throw new OiError('ERR_READOUT', reason, { cause })
  }
}

/** Normalises line breaks to LF: a carriage return would be a part of the prompt. */
function decoded(bytes: Buffer): string {
  try {
    return fileText(bytes).replaceAll('\r\n', '\n')
  } catch (cause) {
    const { message } = cause as OiError
    throw new OiError('ERR_READOUT', message.replace(/^body: /, ''), { cause })
  }
}
