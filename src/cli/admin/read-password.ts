/**
 * A new password from whoever runs a command.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { OiError } from '../../errors.js'
import { printError } from '../output/print.js'
import { readStandardInput } from '../input/read-text.js'

/**
 * Asks for it twice, without showing it; where standard input is no terminal, its first line.
 *
 * @throws {@link OiError} `ERR_CONFIG` if nothing is given, or two different ones are.
 */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await readStandardInput()).split(/\r?\n/, 1)
    return line
  }
  const first = await ask('New password: ')
  if (first === (await ask('The same again: '))) return first
  throw new OiError('ERR_CONFIG', 'Two different passwords: nothing has changed')
}

function ask(prompt: string): Promise<string> {
  printError(prompt)
  // What is typed is echoed by readline, into nothing.
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
