/**
 * Reads a new password from the user of a command.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { OiError } from '../../errors.js'
import { printError } from '../../terminal/print.js'
import { readText } from '../input/read-text.js'

/**
 * Asks for it twice, without showing it; if standard input is no terminal, reads its first line.
 *
 * @throws {@link OiError} `ERR_CONFIG` if no password or two different passwords are given.
 */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await readText('-')).split(/\r?\n/, 1)
    return line
  }
  const first = await ask('New password: ')
  if (first === (await ask('The same again: '))) return first
  throw new OiError('ERR_CONFIG', 'Two different passwords: nothing has changed')
}

function ask(prompt: string): Promise<string> {
  printError(prompt)
  // readline echoes typed characters into this stream, which drops them.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => reject(new OiError('ERR_CONFIG', 'No password: nothing has changed')))
    lines.once('line', (line) => {
      printError('\n')
      resolve(line)
      lines.close()
    })
  })
}
