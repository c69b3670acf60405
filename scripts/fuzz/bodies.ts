/**
 * Bodies of requests: right ones, ones that are known to be wrong, and mutations of both.
 *
 * @module
 */

import { decisionsExamples } from '../../src/api/openapi/request-examples.js'
import { badRequests } from '../../test/helpers/bad-requests.js'
import { oddRequests } from '../../test/helpers/odd-requests.js'
import type { Random } from '../../test/helpers/random.js'
import { asking } from '../../test/helpers/request-text.js'
import { type Body, compressed, inParts, pictureBodies, routes } from './forms.js'
import { mutateBytes, mutateTree, noise } from './mutate.js'
import { parseTree, textOf, type Tree } from './tree.js'

/** Longer ones would take most of the time. */
const longestSeed = 4096

const usual = asking(
  `{"refund":{"type":"noul","instructions":"Does the customer want money back?",
      "criteria":{"true":"asks for money","false":"asks for anything else"}},
    "team":{"type":"choice","instructions":"Which team?","criteria":{"billing":"payments",
      "shipping":null,"support":""}},
    "urgency":{"type":"score","instructions":"How urgent?","criteria":["low","high",{"now":true}]}}`,
  `"state":{"ticket":4711,"text":"My card was charged twice.","tags":["a",1.5,null]},"model":"default"`,
)

/** Blocks of other media, in a state of text and beside pictures. */
const media = [
  ...['input_audio', 'audio', 'document', 'video_url', 'input_file'].map((type) => ({
    type,
    [type]: { data: 'UklGRg==', format: 'wav' },
  })),
  ...['audio/wav', 'video/mp4', 'application/pdf', 'image/svg+xml'].map(
    (type) => `data:${type};base64,UklGRg==`,
  ),
]
const levels = [null, 1, true, [null], { a: null }, '']
const noul = '{"type":"noul","instructions":"Is it?"}'
/** What the interface refuses by name: names that stand twice, other media, levels of null. */
const refused = [
  `{"state":"a","state":"b","questions":{"q":${noul}}}`,
  `{"state":"a","questions":{"q":${noul}},"questions":{"r":${noul}}}`,
  `{"state":"a","questions":{"q":${noul},"q":${noul}}}`,
  '{"state":"a","questions":{"q":{"type":"noul","type":"choice","criteria":{"a":"","a":""}}}}',
  ...media.map((block) =>
    asking(`{"q":${noul}}`, `"state":${JSON.stringify({ a: ['x', block] })}`),
  ),
  ...levels.map((level) =>
    asking(`{"q":{"type":"score","criteria":["low",${JSON.stringify(level)}]}}`),
  ),
]

const seeds = [
  ...Array<string>(10).fill(usual),
  ...oddRequests.map(({ body }) => body),
  ...badRequests.map(({ body }) => body),
  ...refused,
].filter((body) => body.length <= longestSeed)

const seedBytes = seeds.map((body) => Buffer.from(body))
const trees = seeds.flatMap((body): Tree[] => {
  try {
    return [parseTree(typeof body === 'string' ? body : Buffer.from(body).toString())]
  } catch {
    return []
  }
})

const usualTree = parseTree(usual)
const decisionTrees = Object.values(decisionsExamples).map(({ value }) =>
  parseTree(JSON.stringify(value)),
)

/** Of questions, bytes: in a batch each comes back with every item. */
const longNames = [1000, 50_000, 300_000]

const mostItems = 6

/** @param forms - Nothing but bodies that are compressed, in parts, or have pictures. */
export function makeBody(random: Random, forms: boolean): Body {
  if (!forms && random.next() < 0.9) return plainBody(random)
  const share = random.next()
  if (share < 0.3) return compressed(random, plainBody(random))
  if (share < 0.5) return pictured(random)
  if (share < 0.6) return compressed(random, pictured(random))
  const parts = inParts(random, random.integer(5) === 0 ? plainBody(random) : pictured(random))
  return share < 0.9 ? parts : compressed(random, parts)
}

function pictured(random: Random): Body {
  const bytes = random.pick(pictureBodies)
  const share = random.next()
  if (share < 0.5) return single(bytes)
  if (share < 0.6) return single(mutatedBytes(random, bytes))
  const text = bytes.toString()
  if (share < 0.7)
    return { bytes: Buffer.from(`{"requests":[${text},${text}]}`), path: routes.batch }
  return single(Buffer.from(textOf(mutateTree(parseTree(text), random, trees))))
}

function plainBody(random: Random): Body {
  if (random.integer(10) === 0) return translated(random)
  const share = random.next()
  if (share < 0.12) return single(random.pick(seedBytes))
  if (share < 0.6) return single(mutatedTree(random))
  if (share < 0.75) return single(mutatedBytes(random, random.pick(seedBytes)))
  if (share < 0.8) return single(mutatedBytes(random, mutatedTree(random)))
  if (share < 0.82) return single(noise(random, random.integer(200)))
  const envelope = Buffer.from(textOf(batch(random)))
  const changed = random.integer(5) === 0 ? mutatedBytes(random, envelope) : envelope
  return { bytes: changed, path: routes.batch }
}

/** As another API has it. */
function translated(random: Random): Body {
  const tree = random.pick(decisionTrees)
  const changed =
    random.integer(4) === 0 ? tree : mutateTree(tree, random, [...decisionTrees, usualTree])
  const bytes = Buffer.from(textOf(changed))
  const damaged = random.integer(10) === 0 ? mutatedBytes(random, bytes) : bytes
  return { bytes: damaged, path: routes.decisions }
}

const single = (bytes: Buffer): Body => ({ bytes, path: routes.single })

function mutatedTree(random: Random): Buffer {
  const tree = mutateTree(random.pick(trees), random, trees)
  return Buffer.from(textOf(tree, random.integer(10) === 0 ? random : undefined))
}

function mutatedBytes(random: Random, bytes: Buffer): Buffer {
  return mutateBytes(bytes, random, random.pick(seedBytes))
}

function batch(random: Random): Tree {
  if (random.integer(100) === 0) return longNamed(random)
  const count = random.integer(200) === 0 ? 255 + random.integer(4) : random.integer(mostItems)
  const many = (make: () => Tree) => Array.from({ length: count }, make)
  const members: [string, Tree][] =
    random.integer(3) === 0
      ? [
          ['"states"', many(() => random.pick(trees))],
          ['"questions"', parseTree('{"q":{"type":"noul"}}')],
        ]
      : [['"requests"', many(() => (count > mostItems ? trees[0]! : item(random)))]]
  if (random.integer(5) === 0) members.push(['"model"', random.pick(['"default"', '"x"', '7'])])
  const envelope: Tree = { members }
  return random.integer(3) === 0 ? mutateTree(envelope, random, trees) : envelope
}

/** Few bytes that ask for a long reply. */
function longNamed(random: Random): Tree {
  const name = 'n'.repeat(random.pick(longNames))
  const states = Array.from({ length: 1 + random.integer(64) }, (_, i) => `${i}`)
  const questions = { [name]: { type: 'noul', instructions: '?' } }
  return parseTree(JSON.stringify({ states, questions }))
}

function item(random: Random): Tree {
  const tree = random.pick(trees)
  if (random.integer(2) === 0) return mutateTree(tree, random, trees)
  if (typeof tree === 'string' || Array.isArray(tree)) return tree
  return { members: [['"id"', random.pick(['"a"', '""', '"__proto__"', '7'])], ...tree.members] }
}
