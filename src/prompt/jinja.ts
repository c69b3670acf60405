/**
 * Compiles Jinja templates that users wrote: syntax errors name their line.
 *
 * The library's errors have no place. It is found by the last token that the parser read.
 *
 * @module
 */

import { parse, Template, tokenize } from '@huggingface/jinja'
import { OiError } from '../errors.js'

/** Keeps a final line break, which Jinja drops because editors add it to files. */
export function keepLastBreak(source: string): string {
  return source.endsWith('\n') ? `${source}\n` : source
}

/**
 * @throws {@link OiError} `ERR_READOUT` with the line, from 1, if it is not Jinja.
 */
export function compileJinja(source: string): Template {
  try {
    return new Template(source)
  } catch (cause) {
    const { line, reason } = faultOf(source, cause)
    throw new OiError('ERR_READOUT', `line ${line}: not valid Jinja: ${reason}`, { cause })
  }
}

interface Token {
  readonly value: string
  readonly type: string
}
type Tokens = readonly Token[]

// The library's own types for these do not resolve.
const lex = tokenize as unknown as (source: string, options: object) => Tokens
const parseTokens = parse as unknown as (tokens: Tokens) => unknown

interface Fault {
  readonly line: number
  readonly reason: string
}

function faultOf(source: string, cause: unknown): Fault {
  const lines = source.split('\n')
  const reason = (cause as Error).message.replace(/^Parser Error: /, '').replace(/\.$/, '')
  const tokens = tokensOf(source)
  if (tokens === undefined) {
    // The first line up to which the text cannot be tokenized is the faulty one.
    let line = lines.length
    while (line > 1 && tokensOf(lines.slice(0, line - 1).join('\n')) === undefined) line--
    return { line, reason }
  }
  const reached = furthest(tokens)
  if (reached < tokens.length) return { line: lineOf(lines, reached), reason }
  const open = openBlock(tokens)
  if (open === undefined) return { line: lineOf(lines, tokens.length - 1), reason: 'it ends here' }
  const name = tokens[open + 1]!.value
  return { line: lineOf(lines, open), reason: `{% ${name} %} is never closed by {% end${name} %}` }
}

function tokensOf(source: string): Tokens | undefined {
  try {
    // The library's own options for templates.
    return lex(source, { lstrip_blocks: true, trim_blocks: true })
  } catch {
    return undefined
  }
}

/** The last token that the parser read before it failed. */
function furthest(tokens: Tokens): number {
  let last = 0
  const watched = new Proxy(tokens, {
    get(target, key, receiver): unknown {
      if (typeof key === 'string' && /^\d+$/.test(key)) last = Math.max(last, Number(key))
      return Reflect.get(target, key, receiver)
    },
  })
  try {
    parseTokens(watched)
  } catch {
    // The error is known already.
  }
  return last
}

/** The line on which a token ends. */
function lineOf(lines: readonly string[], token: number): number {
  for (let count = 1; count < lines.length; count++) {
    const tokens = tokensOf(lines.slice(0, count).join('\n'))
    if (tokens !== undefined && tokens.length > token) return count
  }
  return lines.length
}

const blocks = ['if', 'for', 'macro', 'call', 'filter']

/** The innermost block that has no end. */
function openBlock(tokens: Tokens): number | undefined {
  const open: number[] = []
  for (const [i, { type }] of tokens.entries()) {
    if (type !== 'OpenStatement') continue
    const name = tokens[i + 1]?.value ?? ''
    if (blocks.includes(name)) open.push(i)
    else if (name.startsWith('end')) open.pop()
  }
  return open.at(-1)
}
