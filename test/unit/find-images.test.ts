/** What counts as an image in a request, and the place that errors name. */
import t from 'tap'
import { parseJson, stringifyJson } from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import { findImage, findImages } from '../../src/images/find-images.js'

const data = 'data:image/png;base64,iVBORw0KGgo='
const bare = `iVBORw0KGgo${'A'.repeat(60)}`
const block = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}`

for (const [state, place] of [
  [block, 'state'],
  [`[1,"a",${block}]`, 'state[2]'],
  [`{"photo":${block}}`, 'state.photo'],
  [`{"a b":[{"9":${block}}]}`, 'state["a b"][0]["9"]'],
  [`{"__proto__":${block}}`, 'state.__proto__'],
  [`{"a":1,"b":[[],{}],"c":${block},"d":${block}}`, 'state.c'],
  ['{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}', 'state'],
  [`{"x":{"type":"image_url","image_url":{"url":"${data}"}}}`, 'state.x'],
  [`{"x":{"type":"image_url","image_url":"${data}"}}`, 'state.x'],
  [`{"x":{"image":{"url":"${data}"},"alt":"a cat"}}`, 'state.x'],
  [`{"image":{"url":"DATA:image/png;base64,"}}`, 'state'],
  ['{"image":{"url":"https://example.com/a.png"}}', 'state'],
  [`"${data}"`, 'state'],
  [`[{"a":"${data}"}]`, 'state[0].a'],
  [`{"a":"\\n ${data}"}`, 'state.a'],
  [`{"image":"${data}"}`, 'state.image'],
  [`{"images":["cat","${bare}"]}`, 'state.images[1]'],
  [`{"image":"${bare}"}`, 'state.image'],
  [`{"x":{"type":"image","image":"${bare}"}}`, 'state.x'],
  [`{"x":{"type":"image","image":"https://example.com/a.png"}}`, 'state.x'],
  [`{"x":{"type":"image","data":"","mimeType":"image/png"}}`, 'state.x'],
  [`{"x":{"mediaType":"image/png","base64":""}}`, 'state.x'],
  [`{"x":{"media_type":"image/png","base64":""}}`, 'state.x'],
  [`{"parts":[{"inlineData":{"mimeType":"image/png","data":""}}]}`, 'state.parts[0]'],
  [`{"parts":[{"inline_data":{"mime_type":"image/png","data":""}}]}`, 'state.parts[0]'],
  [`{"x":{"type":"input_image","image_url":"${data}"}}`, 'state.x'],
  [`{"x":{"type":"input_image","file_id":"file-1"}}`, 'state.x'],
  [`{"x":{"type":"file","file":{"file_data":"${data}"}}}`, 'state.x'],
  [`{"x":{"type":"input_file","file_url":"https://example.com"}}`, 'state.x'],
  [`{"x":{"type":"file","mediaType":"image/png","data":""}}`, 'state.x'],
  ['['.repeat(62) + block.replace(/"source".*/, '"source":{}}') + ']'.repeat(62), undefined],
] as const) {
  t.test(`an image is found in ${state.slice(0, 60)}`, async (t) => {
    const found = () => findImage({ state: parseJson(state) })
    if (place !== undefined) t.equal(found(), place)
    else t.match(found(), /^state(\[0\]){62}$/)
  })
}

for (const state of [
  JSON.stringify(block),
  '"see data:image/png;base64,iVBORw0KGgo="',
  '"data: image/png"',
  `{"photo":"${bare}"}`,
  '{"image":"iVBORw0KGgo"}',
  '{"image":"a cat"}',
  '{"type":"file","name":"a.png","size":7}',
  '{"type":"file","data":"words"}',
  '{"inlineData":{"mimeType":"image/png","data":""},"other":1}',
  '{"mediaType":"image/png"}',
  '{"image":{"name":"cat.png","width":3}}',
  '{"image":{"url":7}}',
  '{"name":"mug","image":{"url":"https://example.com/mug.png"}}',
  '{"type":"image","name":"cat.png"}',
  '{"type":"image","source":"scanner"}',
  '{"type":"image_url"}',
  '{"images":["a.png"]}',
  '{"type":"Image","source":{}}',
  '['.repeat(64) + '1.0' + ']'.repeat(64),
]) {
  t.test(`no image is found in ${state.slice(0, 60)}`, async (t) => {
    t.equal(findImage({ state: parseJson(state) }), undefined)
  })
}

t.test('images beside the state are found, and null is ignored', async (t) => {
  for (const value of [[data], data, 'a', { a: 1 }, 7, false]) {
    for (const name of ['images', 'image', 'assets']) {
      t.equal(findImage({ state: '', [name]: value }), name)
    }
  }
  for (const images of [undefined, null, [], '', {}]) {
    t.equal(findImage({ state: '', images, image: images, assets: images }), undefined)
  }
})

t.test('a state that contains itself is refused', async (t) => {
  const state: Json[] = []
  state.push(state, state)
  t.throws(() => findImage({ state }), { code: 'ERR_BODY_INVALID', param: 'state' })
})

const source = JSON.parse(block) as Json
const linked = { type: 'image_url', image_url: { url: data } }
const places = (state: Json, images?: unknown) =>
  findImages({ state, images }).images.map(({ form, place }) => [form, place])

t.test(
  'all images are found, those beside the state first, then in the order of the text',
  async (t) => {
    const state = parseJson(
      `{"b":${block},"1":[${JSON.stringify(linked)},"x",${block}],"a":{"image":{"url":"${data}"}}}`,
    )
    t.strictSame(places(state, [data, 7]), [
      ['listed', 'images[0]'],
      ['listed', 'images[1]'],
      ['source', 'state.b'],
      ['image_url', 'state["1"][0]'],
      ['source', 'state["1"][2]'],
      ['image', 'state.a'],
    ])
  },
)

t.test("an image's block is not searched, members beside `image` are", async (t) => {
  t.strictSame(places({ type: 'image', source: { inner: source } }), [['source', 'state']])
  t.strictSame(places({ image: { url: data, inner: source }, other: [source] }), [
    ['image', 'state'],
    ['source', 'state.other[0]'],
  ])
})

t.test('the first place is the first in the list of all', async (t) => {
  for (const state of [[1, source, source], { a: [], b: linked }, 'x', 1, true, [], {}] as Json[]) {
    t.equal(findImage({ state }), findImages({ state }).images[0]?.place)
  }
})

t.test('texts that are images become objects, in an otherwise equal state', async (t) => {
  const text = `{"b":"${data}","2":["x","${data}"],"1":1.0}`
  const { images, state } = findImages({ state: parseJson(text) })
  t.strictSame(
    images.map(({ place }) => place),
    ['state.b', 'state["2"][1]'],
  )
  t.equal(stringifyJson(state), '{"b":{},"2":["x",{}],"1":1.0}')
  const { b, '2': list } = state as { b: Json; '2': Json[] }
  t.equal(images[0]!.blocks[0], b)
  t.equal(images[1]!.blocks[0], list[1])
  t.strictSame(findImages({ state: data }).state, {})
  const plain = parseJson('{"a":[1]}')
  t.equal(findImages({ state: plain }).state, plain)
})
