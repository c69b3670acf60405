/** Audio, video and documents are refused at their place; data that only mention them are data. */
import t from 'tap'
import { parseJson } from '../../src/api/json.js'
import { readBatch } from '../../src/api/read-batch.js'
import { readRequest } from '../../src/api/read-request.js'
import { readDecisionInSteps } from '../../src/api/decisions/read-decision.js'
import { atOnce } from '../../src/api/turns.js'
import { findImage, findImageIn, findImages } from '../../src/images/find-images.js'

const base64 = 'SUQzBAAAAAAA'
const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }
const noul = { type: 'noul', instructions: 'Is it?' }

const blocks: Readonly<Record<string, string>> = {
  'audio of OpenAI': `{"type":"input_audio","input_audio":{"data":"${base64}","format":"wav"}}`,
  'audio by its address': '{"type":"audio_url","audio_url":{"url":"https://a.example/a.mp3"}}',
  'audio of MCP': `{"type":"audio","data":"${base64}","mimeType":"audio/wav"}`,
  'audio with a source': `{"type":"audio","source":{"type":"base64","media_type":"audio/mp3","data":"${base64}"}}`,
  'a document of Anthropic': `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"${base64}"}}`,
  'a document by its address':
    '{"type":"document","source":{"type":"url","url":"https://a.example/a.pdf"}}',
  'video by its address': '{"type":"video_url","video_url":{"url":"https://a.example/a.mp4"}}',
  'video as a data URL': `{"type":"video_url","video_url":"data:video/mp4;base64,${base64}"}`,
  'a text that is audio': `"data:audio/mpeg;base64,${base64}"`,
  'a text that is video': `"  data:video/mp4;base64,${base64}"`,
  'a text that is a document': `"data:application/pdf;base64,${base64}"`,
  'text as base64': `"data:text/plain;charset=utf-8;base64,${base64}"`,
}

t.test('media in a state are refused where they stand', async (t) => {
  for (const [what, block] of Object.entries(blocks)) {
    const state = parseJson(`{"a":[{"b":${block}}]}`)
    const refused = {
      code: 'ERR_REQUEST_UNACCEPTABLE',
      param: 'state.a[0].b',
      message:
        /^state\.a\[0\]\.b: expected text, data or images, got .+: other media are not read$/,
    }
    t.throws(() => findImages({ state }), refused, what)
    t.throws(() => findImage({ state }), refused, what)
    t.throws(() => findImageIn(parseJson(block), 'questions.q.instructions'), {
      ...{ code: 'ERR_REQUEST_UNACCEPTABLE', param: 'questions.q.instructions' },
    })
  }
})

t.test('fields for other media are refused at their place, and null is not', async (t) => {
  const read = (body: object) => () =>
    readRequest(JSON.stringify({ state: 's', questions: { q: noul }, ...body }), limits)
  for (const name of ['media', 'video', 'videos', 'audio', 'files']) {
    for (const value of ['a', ['a'], { a: 1 }, 7, false]) {
      t.throws(read({ [name]: value }), { code: 'ERR_REQUEST_UNACCEPTABLE', param: name })
    }
    for (const value of [null, [], {}]) read({ [name]: value })()
  }
  for (const name of ['assets', 'image', 'images', 'audio']) {
    const param = `questions.q.${name}`
    const body = { questions: { q: { ...noul, [name]: ['a'] } } }
    t.throws(read(body), { code: 'ERR_REQUEST_UNACCEPTABLE', param })
    for (const items of [{ states: ['s'], questions: { q: noul } }, { requests: [{}] }]) {
      const batch = JSON.stringify({ ...items, [name]: ['a'] })
      t.throws(() => readBatch(batch, limits), { code: 'ERR_REQUEST_UNACCEPTABLE', param: name })
    }
  }
})

t.test('data that mention media are data', async (t) => {
  for (const text of [
    '{"type":"document","title":"Invoice","data":{"total":7}}',
    '{"type":"video","url":"https://a.example/a.mp4","name":"How to"}',
    '{"type":"audio","length":7}',
    '{"type":"video_url"}',
    '"data: the audio was bad, see audio/mpeg;base64,"',
    '"data:text/plain,hello"',
    '"data:application/json,{}"',
  ]) {
    t.equal(findImage({ state: parseJson(text) }), undefined, text)
  }
})

t.test('media in a decision have their place in its body', async (t) => {
  const read = (input: string) =>
    atOnce(
      readDecisionInSteps(
        `{"input":${input},"questions":[{"type":"predicate","instructions":"Is it?"}]}`,
        limits,
        { maxReplyBytes: 2 ** 24, evidence: false },
      ),
    )
  for (const type of ['input_audio', 'input_file', 'input_video']) {
    const input = `[{"role":"user","content":[{"type":"${type}","${type}":{"data":"${base64}"}}]}]`
    const refused = { code: 'ERR_REQUEST_UNACCEPTABLE', param: 'input[0].content[0].type' }
    t.throws(() => read(input), refused)
  }
  const { request, placed } = read(
    `[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_json","data":${blocks['audio of OpenAI']}}]}]`,
  )
  try {
    findImages(request)
    t.fail('found nothing')
  } catch (error) {
    t.match(placed(error as never), { param: 'input[0].content[1].data' })
  }
})
