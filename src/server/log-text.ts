/**
 * Turns a JSON line of the log into a sentence for a terminal.
 *
 * @module
 */

import { styleText } from 'node:util'
import type { RequestEntry } from '../http/log/logger.js'

interface Entry extends Partial<RequestEntry> {
  readonly level: string
  readonly time: string
  readonly notice?: string
  readonly warning?: string
  readonly fault?: string
  readonly digest?: string
}

const colours = { info: 'green', warn: 'yellow', error: 'red' } as const

/** @param line - A line of the log, JSON. @param colour - Whether the terminal shows colours. */
export function logText(line: string, colour: boolean): string {
  const entry = JSON.parse(line) as Entry
  const level = entry.level.padEnd(5)
  const style = colours[entry.level as keyof typeof colours]
  const shown = colour ? styleText(style, level) : level
  return `${entry.time.slice(0, 23).replace('T', ' ')} ${shown} ${printable(textOf(entry))}\n`
}

function textOf(entry: Entry): string {
  const { notice, warning, fault, id, digest } = entry
  if (notice !== undefined) return notice
  if (warning !== undefined) return warning
  if (fault === undefined) return requestText(entry)
  return `${fault}\n  in ${[id, digest && `body ${digest}`].filter(Boolean).join(', ')}`
}

function requestText({ method = '', path, status, ms, ...entry }: Entry): string {
  const outcome = status === 0 ? 'the client had gone' : String(status)
  const { workspace, key, error, model, input_tokens: input, output_tokens: output } = entry
  const parts = [
    `${method.toUpperCase()} ${path}: ${outcome}${error === undefined ? '' : ` ${error}`}`,
    `${ms} ms`,
    workspace && `${workspace}, key ${key}`,
    model,
    input !== undefined && `${input} + ${output} tokens`,
    entry.id,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** A caller's path must not move the cursor. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, '\ufffd')
}
