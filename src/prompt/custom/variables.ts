/**
 * Checks the variables that a user's own template reads: a misspelt variable would silently be
 * empty, and a text that is inserted later cannot be read at all.
 *
 * @module
 */

import { nearestOf } from '../../api/words.js'
import { OiError } from '../../errors.js'

/** Names that Jinja or the library defines. */
const builtIn = [
  ...['true', 'false', 'none', 'True', 'False', 'None', 'loop', 'caller', 'range', 'namespace'],
  ...['raise_exception', 'strftime_now', 'dict'],
]

/** Operators that join texts, or only test for one. */
const joins = ['~', '+', 'and', 'or']

interface Use {
  readonly name: string
  /**
   * The construct that reads the variable's value; undefined if it is only shown, or tested by
   * itself.
   */
  readonly reader: string | undefined
}

/**
 * @param program - A parsed template.
 * @param known - All variables that it may read, at least one.
 * @param texts - The known variables whose text is inserted later.
 * @param hints - Further words for the errors about some of these.
 * @throws {@link OiError} `ERR_READOUT` for an unknown variable, with the nearest known one, and
 *   for a construct that would read such a text.
 */
export function requireVariables(
  program: unknown,
  known: readonly string[],
  texts: readonly string[],
  hints: Readonly<Record<string, string>> = {},
): void {
  const { uses, bound } = usesOf(program)
  for (const { name, reader } of uses) {
    if (bound.has(name)) continue
    if (!known.includes(name)) {
      throw refusal(
        `unknown variable ${name}: did you mean ${nearestOf(name, known)}? ` +
          `There are ${known.join(', ')}`,
      )
    }
    if (reader === undefined || !texts.includes(name)) continue
    throw refusal(
      `${name} cannot be read by ${reader}: its text is inserted after rendering, so ` +
        `expected {{ ${name} }} or {% if ${name} %}${name in hints ? `; ${hints[name]}` : ''}`,
    )
  }
}

/** The variables that a template reads and does not set itself. */
export function variablesOf(program: unknown): ReadonlySet<string> {
  const { uses, bound } = usesOf(program)
  return new Set(uses.map(({ name }) => name).filter((name) => !bound.has(name)))
}

function usesOf(program: unknown) {
  const walk = new Walk()
  walk.visit(program, undefined)
  return walk
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

class Walk {
  readonly uses: Use[] = []
  /** Names that the template sets itself, anywhere. */
  readonly bound = new Set(builtIn)

  visit(value: unknown, reader: string | undefined): void {
    if (value instanceof Map) {
      for (const entry of value) this.visit(entry, reader)
    } else if (Array.isArray(value)) {
      for (const item of value) this.visit(item, reader)
    } else if (isNode(value)) {
      this.#visitNode(value, reader)
    }
  }

  #visitNode(node: Node, reader: string | undefined): void {
    switch (node.type) {
      case 'Identifier':
        this.uses.push({ name: String(node['value']), reader })
        return
      case 'MemberExpression':
        this.visit(node['object'], node['computed'] ? '[…]' : `.${nameOf(node['property'])}`)
        if (node['computed']) this.visit(node['property'], reader)
        return
      case 'CallExpression':
        this.visit(node['callee'], 'a call')
        this.visit(node['args'], 'a call')
        return
      case 'FilterExpression':
      case 'FilterStatement': {
        const filter = node['filter'] as Node
        const called = filter.type === 'CallExpression'
        const by = `the filter ${nameOf(called ? filter['callee'] : filter)}`
        this.visit(node['operand'] ?? node['body'], by)
        if (called) this.visit(filter['args'], by)
        return
      }
      case 'TestExpression':
        this.visit(node['operand'], `the test ${nameOf(node['test'])}`)
        return
      case 'KeywordArgumentExpression':
        this.visit(node['value'], reader)
        return
      case 'BinaryExpression': {
        const operator = nameOf(node['operator'])
        const by = joins.includes(operator) ? reader : operator
        this.visit([node['left'], node['right']], by)
        return
      }
      case 'Set':
        this.#bind(node['assignee'])
        this.visit([node['value'], node['body']], reader)
        return
      case 'For':
        this.#bind(node['loopvar'])
        this.visit(node['iterable'], 'a loop')
        this.visit([node['body'], node['defaultBlock']], reader)
        return
      case 'Macro':
        this.#bind([node['name'], node['args']])
        this.visit(node['body'], reader)
        return
      case 'CallStatement':
        this.#bind(node['callerArgs'])
        this.visit([node['call'], node['body']], reader)
        return
      default:
        for (const [key, child] of Object.entries(node)) {
          // Not a child: a token, which looks like a variable if the operator is a word.
          if (key !== 'operator') this.visit(child, reader)
        }
    }
  }

  /** Names on the left of an assignment; defaults of parameters are values. */
  #bind(target: unknown): void {
    if (Array.isArray(target)) {
      for (const item of target) this.#bind(item)
    } else if (isNode(target)) {
      if (target.type === 'Identifier') this.bound.add(String(target['value']))
      else if (target.type === 'TupleLiteral') this.#bind(target['value'])
      else if (target.type === 'KeywordArgumentExpression') {
        this.#bind(target['key'])
        this.visit(target['value'], undefined)
      } else this.visit(target, undefined)
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function nameOf(node: unknown): string {
  return String((node as { value?: unknown } | undefined)?.value)
}

function refusal(message: string): OiError {
  return new OiError('ERR_READOUT', message)
}
