/**
 * The error for a process that ended while it loaded a model.
 *
 * @module
 */

import { basename } from 'node:path'
import { OiError } from '../errors.js'

/**
 * @param files - The files that it loaded.
 * @param how - How it ended, as `SIGABRT`; with its stage, if that is known.
 * @param words - Its output on stderr.
 * @returns `ERR_MODEL_MEMORY` if it was killed, most likely for lack of memory; else
 *   `ERR_MODEL_LOAD`.
 */
export function loadFailure(files: string, how: string, words: string): OiError {
  if (how.endsWith('SIGKILL')) {
    const message = `${files}: loading it was killed; is there too little memory?`
    return new OiError('ERR_MODEL_MEMORY', message)
  }
  const last = lastWords(words)
  const said = last === '' ? '' : `: ${last}`
  return new OiError('ERR_MODEL_LOAD', `llama.cpp aborted while loading ${files} (${how})${said}`)
}

/** The failed assertion, else the last line; without folders of the build machine. */
function lastWords(words: string): string {
  const lines = words
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const line = lines.findLast((line) => /GGML_ASSERT|GGML_ABORT|fatal error|what\(\)/.test(line))
  return (line ?? lines.at(-1) ?? '').replace(/^\/\S*(?=:\d+: )/, (path) => basename(path))
}
