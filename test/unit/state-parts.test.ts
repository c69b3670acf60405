/** States with images, as parts of a prompt. Images are only told apart, never decoded. */
import t from 'tap'
import { parseJson, stringifyJson } from '../../src/api/json.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import type { RequestImages } from '../../src/decide/types.js'
import type { ImagePixels, PromptPart } from '../../src/engine/types.js'
import { findImages } from '../../src/images/find-images.js'
import { createReadout } from '../../src/prompt/readout.js'
import { stateParts } from '../../src/prompt/state-parts.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import { oddRequests } from '../helpers/odd-requests.js'

const block = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}'
const linked =
  '{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="},"detail":"low"}'
const member = '{"url":"data:image/png;base64,AA=="}'

/** An image as wide as its number, counted from 1 in the order of the request. */
function numbered(state: Json, listed = 0): RequestImages {
  const image = (width: number): ImagePixels => ({
    rgb: new Uint8Array(3 * width),
    width,
    height: 1,
  })
  const found = findImages({ state }).images
  return {
    before: Array.from({ length: listed }, (_, i) => image(i + 1)),
    inState: new Map(found.map((one, i) => [one.blocks[0]!, image(listed + i + 1)])),
  }
}

/** Texts, and images as their numbers. */
const shown = (parts: readonly PromptPart[]) => parts.map(({ text, image }) => image?.width ?? text)

const split = (text: string, listed = 0) => {
  const state = parseJson(text)
  return shown(stateParts(state, numbered(state, listed), '\n\n'))
}

for (const [what, state, expected] of [
  ['a state that is an image', block, [1, '\n\n']],
  ['a list', `["a",${block},${linked}]`, ['["a",', 1, ',', 2, ']\n\n']],
  ['images side by side', `[${block},${block}]`, ['[', 1, ',', 2, ']\n\n']],
  ['an object', `{"9":1.0,"photo":${block},"1":"x"}`, ['{"9":1.0,"photo":', 1, ',"1":"x"}\n\n']],
  ['a member image', `{"image":${member},"alt":"A"}`, ['{"image":', 1, ',"alt":"A"}\n\n']],
  [
    'images at every depth',
    `{"a":[{"b":${block}}],"c":{"d":[[${linked}]]},"e":null}`,
    ['{"a":[{"b":', 1, '}],"c":{"d":[[', 2, ']]},"e":null}\n\n'],
  ],
  ['a name with quotes', `{"a\\"b":${block}}`, ['{"a\\"b":', 1, '}\n\n']],
] as const) {
  t.test(`${what}: each image is at its place, the text around it unchanged`, async (t) => {
    t.strictSame(split(state), expected)
  })
}

t.test('images beside the state come before it, each followed by a line break', async (t) => {
  t.strictSame(split('"A cat."', 2), [1, '\n', 2, '\nA cat.\n\n'])
  t.strictSame(split(`[${block}]`, 1), [1, '\n[', 2, ']\n\n'])
  t.strictSame(split(block, 1), [1, '\n', 2, '\n\n'])
  t.strictSame(split('""', 1), [1, '\n\n\n'])
})

t.test('the text of a state without images is that of the JSON, byte by byte', async (t) => {
  const none = { before: [], inState: new Map<JsonObject, ImagePixels>() }
  for (const { body, what } of oddRequests) {
    const { state } = parseJson(body) as { state: Json }
    const text = typeof state === 'string' ? state : stringifyJson(state)
    t.strictSame(stateParts(state, none, '!'), [{ text: `${text}!`, trusted: false }], what)
  }
})

t.test('no text looks like an image, and no part with an image is trusted', async (t) => {
  const marks = [
    '<__media__>',
    '<|image|>',
    '<image>',
    '[img-1]',
    '▢',
    block,
    JSON.stringify(block),
  ]
  const state: Json = [...marks, parseJson(block), { type: 'image', source: 'a scanner' }]
  const parts = stateParts(state, numbered(state), '')
  t.equal(parts.length, 3)
  const widths = parts.map((part) => part.image?.width)
  t.strictSame(widths, [undefined, 1, undefined])
  t.equal(parts[0]!.text, `${stringifyJson(marks).slice(0, -1)},`)
  t.ok(parts.every(({ trusted }) => !trusted))
})

t.test('a readout puts images after its head, and leaves the questions alone', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const state = parseJson(`{"photo":${block}}`)
  const request = { state, questions: { q: { type: 'noul', instructions: 'Is it?' } as const } }
  const { input } = readout.render(request, numbered(state, 1))
  t.strictSame(shown(input.prefix), ['<|start|>user\n', 1, '\n{"photo":', 2, '}\n\n'])
  const marks = input.prefix.map(({ trusted }) => trusted)
  t.strictSame(marks, [true, false, false, false, false])
  t.strictSame(input.suffixes, readout.render({ ...request, state: 1 }).input.suffixes)
})
