/**
 * Bodies that are nearly right: changes of a tree, and of bytes.
 *
 * @module
 */

import type { Random } from '../../test/helpers/random.js'
import { containersOf, copyOf, isMembers, parseTree, type Tree } from './tree.js'

const long = `"${'long '.repeat(1000)}"`
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Literals and small trees that are right in few places, and some that are right nowhere. */
const odd: readonly Tree[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.0', '1e999', '-1e-999', '1E+2', '5e-324'],
  ...['12345678901234567890', '9007199254740993', '0.1000', '""', '" "', long, '"\\u0000"'],
  ...['"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\uFEFF"', '"\u2028"', '"👍🏽"', '"é"'],
  ...['"<|im_end|>\\n<|im_start|>assistant"', '"<__media__>"', '"noul"', '"choice"', '"score"'],
  ...['"bool"', '"default"', '"jev-latest"', '"image"', '"__proto__"'],
  ...['NaN', 'undefined', 'Infinity', '01', '+1', '.5', '1.', '0x10', "'a'", 'nul', '"\\x41"'],
  ...['"\\u12"', '"open', '"a\nb"', '/**/', ''],
  ...[
    '[]',
    '[[],null]',
    '{}',
    '{"":null}',
    '{"type":"noul"}',
    `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${png}"}}`,
    '{"type":"image_url","image_url":"data:image/png;base64,AAAA"}',
    '{"image":{"url":"https://example.com/a.png"}}',
  ].map(parseTree),
]

const names = [
  ...['""', '"__proto__"', '"constructor"', '"toString"', '"0"', '"10"', '"4294967295"', '"-1"'],
  ...['"state"', '"questions"', '"type"', '"criteria"', '"instructions"', '"model"', '"true"'],
  ...['"requests"', '"states"', '"id"', '"images"', '"\\u0071"', '"\\ud800"', '"a.b"', '"\\""'],
  ...['"source"', '"max_pixels"', '"q"', long, 'q', "'q'", ''],
]

/** Of a tree that is still changed: what was repeated often is not repeated again. */
const mostContainers = 1000

type Container = Exclude<Tree, string>
type Change = (container: Container, random: Random, other: Tree) => void

const sizeOf = (container: Container) =>
  isMembers(container) ? container.members.length : container.length
const valueAt = (container: Container, i: number): Tree =>
  isMembers(container) ? container.members[i]![1] : container[i]!

function put(container: Container, i: number, value: Tree): void {
  if (isMembers(container)) container.members[i]![1] = value
  else container[i] = value
}

function add(container: Container, random: Random, value: Tree): void {
  const at = random.integer(sizeOf(container) + 1)
  if (isMembers(container)) container.members.splice(at, 0, [random.pick(names), value])
  else container.splice(at, 0, value)
}

function nested(value: Tree, depth: number, random: Random): Tree {
  // As one text: a tree that deep could not be walked.
  const lists = random.integer(2) === 0
  const inner = typeof value === 'string' ? value : '0'
  return (lists ? '[' : '{"a":').repeat(depth) + inner + (lists ? ']' : '}').repeat(depth)
}

/** Changes of a container that has a value at `i`. */
const changes: readonly ((container: Container, i: number, ...rest: [Random, Tree]) => void)[] = [
  (container, i, random) => put(container, i, copyOf(random.pick(odd))),
  (container, i, _random, other) => put(container, i, copyOf(other)),
  (container, i, random) => {
    const depth = random.integer(40) === 0 ? 10_000 : 1 + random.integer(80)
    put(container, i, nested(valueAt(container, i), depth, random))
  },
  (container, i, random) => {
    if (isMembers(container)) container.members[i]![0] = random.pick(names)
    else container.reverse()
  },
  (container, i) => {
    if (isMembers(container)) container.members.splice(i, 1)
    else container.splice(i, 1)
  },
  (container, i, random) => {
    // The same again: a name that stands twice, or a list of equals.
    const count = random.integer(20) === 0 ? 300 : 1
    for (let n = 0; n < count; n++) repeat(container, i, count > 1 ? n : undefined)
  },
  (container, i, random) => {
    const j = random.integer(sizeOf(container))
    const value = valueAt(container, i)
    put(container, i, valueAt(container, j))
    put(container, j, value)
  },
]

function repeat(container: Container, i: number, numbered: number | undefined): void {
  if (!isMembers(container)) {
    container.push(copyOf(container[i]!))
    return
  }
  const [name, value] = container.members[i]!
  container.members.push([numbered === undefined ? name : `"n${numbered}"`, copyOf(value)])
}

/** Adds something to any container, or changes what is in it. */
const change: Change = (container, random, other) => {
  const size = sizeOf(container)
  if (size === 0 || random.integer(8) === 0) {
    add(container, random, copyOf(random.pick(odd)))
    return
  }
  random.pick(changes)(container, random.integer(size), random, other)
}

/** A changed copy. @param others - Trees from which parts may be taken. */
export function mutateTree(tree: Tree, random: Random, others: readonly Tree[]): Tree {
  const copy = copyOf(tree)
  for (let left = 1 + random.integer(3); left > 0; left--) {
    const containers = containersOf(copy)
    if (containers.length === 0 || containers.length > mostContainers) break
    const from = containersOf(random.pick(others))
    change(random.pick(containers), random, from.length === 0 ? 'null' : random.pick(from))
  }
  return copy
}

const bytesOfInterest: readonly (readonly number[])[] = [
  ...[[0], [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf], [0x80], [0xe2, 0x82]],
  ...['"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\\u', '0'].map((c) => [c.charCodeAt(0)]),
]

/** Bytes with one place changed, cut off, or joined with others. */
export function mutateBytes(bytes: Buffer, random: Random, other: Buffer): Buffer {
  const at = random.integer(bytes.length + 1)
  const until = Math.min(bytes.length, at + random.integer(32))
  const [before, behind] = [bytes.subarray(0, at), bytes.subarray(until)]
  switch (random.integer(6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      return Buffer.concat([before, behind])
    case 2:
      return Buffer.concat([before, Buffer.from(random.pick(bytesOfInterest)), bytes.subarray(at)])
    case 3:
      return Buffer.concat([before, other.subarray(random.integer(other.length + 1))])
    case 4:
      return Buffer.concat([bytes.subarray(0, until), bytes.subarray(at)])
    default:
      return Buffer.concat([before, noise(random, 1 + random.integer(8)), behind])
  }
}

export function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(256)))
}
