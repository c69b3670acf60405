/** Requests with images on an engine without a model. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import { serializeDecision } from '../../src/decide/decide.js'
import type { DecideOptions, NoulAnswer } from '../../src/decide/types.js'
import { block, dataUrl, png } from '../helpers/pictures.js'
import { fakeAsker, type FakeEngineOptions } from '../helpers/fake-engine.js'

const questions = { q: { type: 'noul', instructions: 'Is it a cat?' } }
const red = await png(60, 30, 'red')
const blue = await png(60, 30, 'blue')

async function asker(options: FakeEngineOptions = {}) {
  const { ask, ...rest } = await fakeAsker({ info: { vision: true }, ...options })
  const asked = (body: object, more?: DecideOptions) => ask({ questions, ...body }, more)
  return { ...rest, ask: asked }
}

t.test('the card lists the modalities', async (t) => {
  const { card } = (await asker()).decider
  t.strictSame(card.modalities, ['text', 'image'])
  t.match(card.limits, { max_images: 8, max_image_pixels: 67_108_864 })
  const blind = (await asker({ info: { vision: false } })).decider.card
  t.strictSame(blind.modalities, ['text'])
  t.match(blind.limits, { max_images: 0, max_image_pixels: 0 })
})

t.test('usage counts image tokens only for images, as part of the input tokens', async (t) => {
  const { ask } = await asker()
  const without = await ask({ state: ['a'] })
  t.notOk('image_tokens' in without.usage)
  t.equal(without.timings.vision, 0)

  const decision = await ask({ state: ['a'], images: [dataUrl(red), dataUrl(blue)] })
  // 3 × 2 patches each, and a line break.
  t.equal(decision.usage.image_tokens, 12)
  t.equal(decision.usage.input_tokens, without.usage.input_tokens + 14)
  const text = serializeDecision(decision)
  t.match(text, /"usage":\{"input_tokens":\d+,"image_tokens":12,"output_tokens":\d+\}/)
  t.ok(validators.response.Check(JSON.parse(text)))
})

t.test("vision time is decoding and encoding, beside the model's time", async (t) => {
  const { ask } = await asker()
  const { timings, latency_ms } = await ask({ state: block(red) })
  t.ok(timings.vision > 2.5, 'the engine alone takes 2.5')
  t.equal(timings.model, 1.5)
  t.equal(latency_ms, 1.5)
})

t.test('another image, or the same image elsewhere, is another prompt', async (t) => {
  const { ask } = await asker()
  const noul = async (body: object) => ((await ask(body)).answers['q'] as NoulAnswer).noul
  const [a, b] = [block(red), block(blue)]
  const answers = await Promise.all(
    [
      { state: [a, b] },
      { state: [b, a] },
      { state: [a, a] },
      { state: [[a], b] },
      { state: { a, b } },
      { state: [b], images: [dataUrl(red)] },
      { state: [a], images: [dataUrl(blue)] },
    ].map(noul),
  )
  t.equal(new Set(answers).size, answers.length)
  t.equal(await noul({ state: [a, b] }), answers[0])
  t.equal(await noul({ state: [a, { type: 'image_url', image_url: dataUrl(blue) }] }), answers[0])
})

t.test('the engine gets the images at their places, and nothing of their blocks', async (t) => {
  const { ask, engine } = await asker()
  const images = [dataUrl(await png(30, 30)), dataUrl(await png(90, 30))]
  await ask({ state: { before: 1, photo: block(red), behind: [block(blue)] }, images })
  const { prefix } = engine.scored[0]!
  t.strictSame(
    prefix.map(({ text, image }) => (image ? [image.width, image.height] : text)),
    [
      ...['<|start|>user\n', [30, 30], '\n', [90, 30], '\n{"before":1,"photo":'],
      ...[[60, 30], ',"behind":[', [60, 30], ']}\n\n'],
    ],
  )
  t.strictSame([...prefix[5]!.image!.rgb.subarray(0, 3)], [255, 0, 0])
  t.strictSame([...prefix[7]!.image!.rgb.subarray(0, 3)], [0, 0, 255])
})

t.test('a bad image never reaches the engine', async (t) => {
  const { ask, engine } = await asker()
  await t.rejects(ask({ state: { photo: block(red, 'image/jpeg') } }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'state.photo.source.data',
  })
  await t.rejects(ask({ state: 1, images: 'a' }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'images',
  })
  await t.rejects(ask({ state: 1, images: 7 }), { code: 'ERR_BODY_INVALID', param: 'images' })
  t.equal(engine.scored.length, 0)
})

t.test('a cancelled request is not scored, and decoding counts for the deadline', async (t) => {
  const { ask, engine } = await asker()
  await t.rejects(ask({ state: block(red) }, { signal: AbortSignal.abort() }), {
    code: 'ERR_ABORTED',
  })
  t.equal(engine.scored.length, 0)

  const { score } = engine
  const deadlines: (number | undefined)[] = []
  engine.score = (input, options) => {
    deadlines.push(options?.deadlineMs)
    return score.call(engine, input, options)
  }
  await ask({ state: block(red) }, { deadlineMs: 5000 })
  await ask({ state: block(red) }, { deadlineMs: 1e-9 })
  t.ok(deadlines[0]! < 5000 && deadlines[0]! >= 1, String(deadlines[0]))
  t.equal(deadlines[1], 1)
})

t.test('a failure after decoding frees its memory', async (t) => {
  const { ask } = await asker({ maxQueued: 0 })
  // Each holds 48 MiB of 512.
  const state = block(red, 'image/png', { max_pixels: 2 ** 24 })
  for (let i = 0; i < 12; i++) await t.rejects(ask({ state }), { code: 'ERR_OVERLOADED' })
})
