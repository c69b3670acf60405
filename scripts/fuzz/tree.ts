/**
 * JSON as a tree of texts: what no value can hold (a name twice, half a surrogate, `01`) can
 * stand in it.
 *
 * @module
 */

import { entriesOf, isJsonObject, parseJson, stringifyJson } from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import type { Random } from '../../test/helpers/random.js'

/** A literal as its text, a list, or an object. */
export type Tree = string | Tree[] | Members
export interface Members {
  /** Names as they are written, quotes included. */
  readonly members: [name: string, value: Tree][]
}

export const isMembers = (tree: Tree): tree is Members =>
  typeof tree !== 'string' && !Array.isArray(tree)

function treeOf(value: Json): Tree {
  if (Array.isArray(value)) return value.map(treeOf)
  if (!isJsonObject(value)) return stringifyJson(value)
  return {
    members: entriesOf(value).map(([name, member]) => [JSON.stringify(name), treeOf(member)]),
  }
}

/** @throws of `parseJson`, for a text that is no JSON. */
export const parseTree = (text: string) => treeOf(parseJson(text))

export function copyOf(tree: Tree): Tree {
  if (typeof tree === 'string') return tree
  if (Array.isArray(tree)) return tree.map(copyOf)
  return { members: tree.members.map(([name, value]) => [name, copyOf(value)]) }
}

/** All lists and objects, the outermost first. */
export function containersOf(tree: Tree, found: Exclude<Tree, string>[] = []) {
  if (typeof tree === 'string') return found
  found.push(tree)
  const values = Array.isArray(tree) ? tree : tree.members.map(([, value]) => value)
  for (const value of values) containersOf(value, found)
  return found
}

const spaces = [' ', '\n', '\t', '\r\n', '  ']

/** @param random - Puts white space in; none without. */
export function textOf(tree: Tree, random?: Random): string {
  const space = () => (random !== undefined && random.integer(4) === 0 ? random.pick(spaces) : '')
  const write = (node: Tree): string => {
    if (typeof node === 'string') return space() + node + space()
    if (Array.isArray(node)) return `${space()}[${node.map(write).join()}]${space()}`
    const members = node.members.map(
      ([name, value]) => `${space()}${name}${space()}:${write(value)}`,
    )
    return `${space()}{${members.join()}}${space()}`
  }
  return write(tree)
}
