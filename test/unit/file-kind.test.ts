/**
 * Files that are not models: `oi models inspect` once said that they can be served, and `oi serve`
 * failed with llama.cpp's message, which says neither what they are nor what to do.
 */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireModelFile, requireProjectorFile } from '../../src/models/file-kind.js'
import { open } from '../../src/open.js'
import { oi } from '../helpers/command.js'
import { ggufHead } from '../helpers/gguf-head.js'

const kinds = [
  ['a projector', { 'general.architecture': 'clip' }, 1, /is a projector.*--mmproj/],
  [
    'an adapter',
    { 'general.architecture': 'llama', 'general.type': 'adapter', 'adapter.type': 'lora' },
    1,
    /is an adapter \(lora\).*merge it/,
  ],
  ['an encoder', { 'general.architecture': 'bert' }, 1, /makes embeddings \(bert\)/],
  ['another encoder', { 'general.architecture': 'nomic-bert-moe' }, 1, /makes embeddings/],
  ['T5', { 'general.architecture': 't5' }, 1, /cannot be asked/],
  ['a vocabulary', { 'general.architecture': 'llama' }, 0, /is a vocabulary without weights/],
  ['importances', { 'general.type': 'imatrix' }, 1, /imatrix, no model/],
] as const

t.test('library, command and server say what the file is', async (t) => {
  const folder = t.testdir()
  for (const [name, texts, tensors, message] of kinds) {
    const file = join(folder, 'x.gguf')
    writeFileSync(file, ggufHead(texts, tensors))
    const refusal = { code: 'ERR_MODEL_UNSUPPORTED', message }
    await t.rejects(requireModelFile(file), refusal, String(name))
    await t.rejects(open({ model: file }), refusal, String(name))
  }
  for (const args of [
    ['models', 'inspect', join(folder, 'x.gguf')],
    ['serve', '--model', join(folder, 'x.gguf'), '--port', '0', '--data', join(folder, 'data')],
    ['ask', 'x', '--noul', 'y', '--model', join(folder, 'x.gguf')],
  ]) {
    const { code, stderr } = await oi(args)
    t.equal(code, 1, args.join(' '))
    t.match(stderr, /^oi: .*x\.gguf is data of the type imatrix, no model$/m, args.join(' '))
  }
})

t.test('a model is not a projector', async (t) => {
  const file = join(t.testdir(), 'x.gguf')
  writeFileSync(file, ggufHead({ 'general.architecture': 'llama', 'general.type': 'model' }))
  await t.rejects(requireProjectorFile(file), { message: /no projector but .* llama/ })
  await t.resolves(requireModelFile(file))
  await t.rejects(open({ model: file, projectorPath: file }), { code: 'ERR_MODEL_UNSUPPORTED' })
})

t.test(
  'damaged, truncated or missing files are left to the engine, which names the fault',
  async (t) => {
    const file = join(t.testdir(), 'x.gguf')
    await t.resolves(requireModelFile(file))
    const whole = ggufHead({ 'general.architecture': 'llama' })
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length))
      await t.resolves(requireModelFile(file))
    }
    const damaged = Buffer.from(whole)
    damaged.writeBigUInt64LE(2n ** 63n, 24)
    writeFileSync(file, damaged)
    await t.resolves(requireModelFile(file))
  },
)

t.test('an unknown option is refused with the nearest known one', async (t) => {
  const refusal = (message: RegExp) => ({ code: 'ERR_INVALID_ARGUMENT', message })
  const given = (options: object) => open(options)
  await t.rejects(given({ mmproj: 'x' }), refusal(/option mmproj: did you mean projectorPath\?/))
  await t.rejects(given({ thread: 2 }), refusal(/option thread: did you mean threads\?/))
  await t.rejects(given({ hostCacheMb: 2 }), refusal(/did you mean hostCacheBytes\?/))
})
