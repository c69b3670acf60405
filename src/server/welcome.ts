/**
 * The output of a first start: the key, a request that works with it, and the console.
 *
 * @module
 */

import { example } from '../api/example.js'
import { shellWord } from '../api/words.js'

/** @param url - The server's address, without a path. */
export function welcome(url: string, secret: string): string {
  return `
This is a new data folder: it has a workspace "default" now, and a key, shown this once:

  ${secret}

Try it:

  curl ${shellWord(`${url}/v1/systemone`)} -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(example))}

`
}

/** @param url - Of the console, without a path. @param token - Sets the first password; undefined if it was shown before. */
export function consoleLine(url: string, token: string | undefined): string {
  if (token === undefined) return `Console on ${url}/console\n`
  return `
The console has no password yet. This link sets it, once, within a day (later: oi admin password):

  ${url}/console#first=${token}

`
}
