/**
 * What is said of a process that ended while it loaded a model.
 *
 * @module
 */

import { basename } from 'node:path'
import { OiError } from '../errors.js'

/**
 * @param files - What it loaded.
 * @param how - How it ended, as `SIGABRT`; with what it was doing, where that is known.
 * @param words - What it wrote on stderr.
 * @returns `ERR_MODEL_MEMORY` if it was killed, which is what a lack of memory looks like; else
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

/** An assertion that failed, else the last line. Without folders of whoever built it. */
function lastWords(words: string): string {
  const lines = words
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const line = lines.findLast((line) => /GGML_ASSERT|GGML_ABORT|fatal error|what\(\)/.test(line))
  return (line ?? lines.at(-1) ?? '').replace(/^\/\S*(?=:\d+: )/, (path) => basename(path))
}
