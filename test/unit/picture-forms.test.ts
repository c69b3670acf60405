/**
 * Images as clients name and send them, on an engine without a model. That every form is the same
 * image is a rule of the conformance suite.
 */
import t from 'tap'
import { stringifyJson } from '../../src/api/json.js'
import { fakeAsker, type FakeEngine } from '../helpers/fake-engine.js'
import { block, dataUrl, plain, png } from '../helpers/pictures.js'

const questions = {
  q: { type: 'noul', instructions: 'Is it a cat?' },
  c: { type: 'choice', instructions: 'Which?', criteria: { cat: null, dog: 'barks' } },
}
const red = await png(60, 30, 'red')
const blue = await png(60, 30, 'blue')
const data = red.toString('base64')
const url = dataUrl(red)
const asset = { type: 'image', format: 'png', data_base64: data }

const { engine, ask: asked } = await fakeAsker({ info: { vision: true } })
const ask = (body: object) => asked({ questions, ...body })
const { ask: askBlind } = await fakeAsker()

/** The last prompts: texts, and images as their sizes. */
const shown = ({ scored }: FakeEngine) =>
  scored.at(-1)!.prefix.map(({ text, image }) => image?.width ?? text)

t.test('image/jpg is JPEG', async (t) => {
  const jpeg = await plain(60, 30, 'red').jpeg().toBuffer()
  const wanted = (await ask({ state: block(jpeg, 'image/jpeg') })).answers
  for (const body of [
    { state: block(jpeg, 'image/jpg') },
    { state: dataUrl(jpeg, 'image/JPG') },
    { state: '#1', assets: { '#1': { format: 'jpg', data_base64: jpeg.toString('base64') } } },
    { state: '#1', assets: { '#1': { format: 'jpeg', data_base64: jpeg.toString('base64') } } },
  ]) {
    t.strictSame((await ask(body)).answers, wanted)
  }
})

t.test('a reference is the image wherever it stands', async (t) => {
  const wide = await png(90, 30)
  const assets = { img: asset, 'img-2': { ...asset, data_base64: wide.toString('base64') } }
  await ask({ state: 'See img, img-2 and "img".', assets })
  t.match(shown(engine).join(''), /See 60, 90 and "60"\./)
  await ask({ state: { 'the img': ['an img', 'img'] }, assets: { img: asset } })
  const text = shown(engine).join('')
  t.match(text, /\{"the 60":\["an 60",60\]\}/)
})

t.test('a reference in a question is the image there, and is counted there', async (t) => {
  const assets = { 'ref-1': asset }
  const shared = { state: 'A shop.', assets }
  const without = await ask({ state: 'A shop.' })
  const asked = {
    q: { type: 'noul', instructions: 'Is ref-1 a cat?' },
    c: questions.c,
    o: {
      type: 'choice',
      instructions: 'Which?',
      criteria: { 'like ref-1': null, other: { seen: 'ref-1' } },
    },
  }
  const before = engine.scored.length
  const { answers, usage } = await ask({ ...shared, questions: asked })
  t.strictSame(Object.keys(answers), ['q', 'c', 'o'])
  t.match(answers['o'], { probabilities: { 'like ref-1': Number, other: Number } })
  t.strictSame(answers['c'], without.answers['c'])
  t.equal(usage.image_tokens, 18)
  // Together for questions without images, and each of the others by itself.
  t.equal(engine.scored.length - before, 3)
  for (const { suffixes } of engine.scored.slice(before)) {
    for (const { parts } of suffixes) t.ok(parts.every(({ image }) => image === undefined))
  }
  const alone = await ask({ ...shared, questions: { q: asked.q } })
  t.strictSame(alone.answers['q'], answers['q'])
  const other = { 'ref-1': { ...asset, data_base64: blue.toString('base64') } }
  const another = await ask({ ...shared, assets: other, questions: { q: asked.q } })
  t.notSame(another.answers['q'], answers['q'])
  t.equal(another.usage.input_tokens, alone.usage.input_tokens)
  const words = await ask({ state: 'A shop.', questions: { q: asked.q } })
  t.ok(alone.usage.input_tokens < words.usage.input_tokens + 6)
})

t.test('bad assets are refused with their places', async (t) => {
  const refused = async (code: string, param: string, assets: unknown, state = '#1') =>
    t.rejects(ask({ state, assets }), { code, param }, JSON.stringify(assets).slice(0, 70))
  const place = 'assets["#1"]'
  for (const [state, param, wrong] of [
    ['x', place, asset],
    ['#1'.repeat(9), place, asset],
    ['#1', `${place}.part`, { part: 'none' }],
    ['#1', `${place}.format`, { ...asset, format: 'tiff' }],
    ['#1', `${place}.type`, { ...asset, type: 'video' }],
    ['#1', `${place}.data_base64`, { ...asset, format: 'jpeg' }],
  ] as const) {
    await refused('ERR_REQUEST_UNACCEPTABLE', param, { '#1': wrong }, state)
  }
  await refused('ERR_BODY_INVALID', 'assets[""]', { '': asset })
  await refused('ERR_BODY_INVALID', 'assets', [asset])
  await refused('ERR_BODY_INVALID', `${place}.part`, { '#1': { part: 7 } })
  for (const wrong of [data, {}, { ...asset, part: 'p' }]) {
    await refused('ERR_BODY_INVALID', place, { '#1': wrong })
  }
})

t.test('an image without bytes, or with other bytes, is refused and never fetched', async (t) => {
  for (const [photo, param] of [
    [{ type: 'image', image: 'https://example.com/a.png' }, 'state.photo.image'],
    [{ type: 'input_image', file_id: 'file-1' }, 'state.photo'],
    [{ type: 'file', file: { file_id: 'file-1' } }, 'state.photo'],
    [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }, 'state.photo'],
    [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } }, 'state.photo'],
    [{ mediaType: 'audio/mpeg', base64: 'AAAA' }, 'state.photo.mediaType'],
    [{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }, 'state.photo.inlineData.mediaType'],
    ['data:image/svg+xml;base64,AAAA', 'state.photo'],
    ['data:image/png,AAAA', 'state.photo'],
  ] as const) {
    await t.rejects(ask({ state: { photo } }), { code: 'ERR_REQUEST_UNACCEPTABLE', param })
  }
  for (const photo of ['data:image/svg+xml;utf8,<svg/>', 'data:image/svg+xml,%3Csvg/%3E']) {
    await t.rejects(ask({ state: { photo } }), { message: /expected one of .+svg\+xml"$/ })
  }
  for (const images of ['https://example.com/a.png', ['file:///etc/passwd']]) {
    await t.rejects(ask({ state: '', images }), { code: 'ERR_REQUEST_UNACCEPTABLE' })
  }
})

t.test('an image in a question is refused: as text it would be base64', async (t) => {
  const noul = { type: 'noul' }
  for (const [q, param] of [
    [{ ...noul, instructions: url }, 'questions.q.instructions'],
    [{ ...noul, instructions: ['Is it?', block(red)] }, 'questions.q.instructions[1]'],
    [{ ...noul, criteria: { true: { a: url } } }, 'questions.q.criteria.true.a'],
    [
      { type: 'choice', criteria: { a: { type: 'image_url', image_url: { url } } } },
      'questions.q.criteria.a',
    ],
    [{ type: 'score', criteria: [url, 'b'] }, 'questions.q.criteria[0]'],
  ] as const) {
    for (const each of [ask, askBlind]) {
      const asking = each({ state: 'x', questions: { q } })
      await t.rejects(asking, { code: 'ERR_REQUEST_UNACCEPTABLE', param })
    }
  }
})

t.test('a state with images keeps the caller’s order', async (t) => {
  const other = JSON.stringify(block(red))
  const state = `{"b":"${url}","2":"#1","1":{"9":${other},"3":"#1","image":{"url":"${url}"}}}`
  const text = `{"state":${state},"assets":${JSON.stringify({ '#1': asset })},"questions":${stringifyJson(questions)}}`
  await asked(text)
  t.match(shown(engine).join(''), /\{"b":60,"2":60,"1":\{"9":60,"3":60,"image":60\}\}/)
})
