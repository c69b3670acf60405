/**
 * Decision models in `oi models inspect`, and refused ones.
 *
 * Needs the built addon; fixtures are made on first use.
 */
import t from 'tap'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { oi as command } from '../helpers/command.js'
import { fixturePath, openEngine } from '../helpers/fixture.js'
import { readGguf, writeGguf } from '../helpers/gguf-file.js'

const options = { contextTokens: 2048, threads: 1 }
const closed = '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n'
const modelOf = (decision: string) => fixturePath('small', { decision })
t.test("no state has control tokens that only the decision model's template has", async (t) => {
  // Qwen's vocabulary has <think>, and no other template names it here.
  const modelPath = await fixturePath('small', {
    ...{ decision: 'openjev', template: 'none', vocab: 'qwen2' },
  })
  const engine = await openEngine({ ...options, modelPath })
  t.teardown(() => engine.close())
  t.equal(engine.info.chatTemplate, undefined)
  t.strictSame(Object.keys(engine.info.chatTemplates), ['systemone'])
  const [trusted, plain] = await engine.tokenize([
    { text: closed, trusted: true },
    { text: closed, trusted: false },
  ])
  const [think] = await engine.tokenize([{ text: '<think>', trusted: true }])
  t.equal(think!.length, 1)
  const control = [...trusted!].filter((id) => !engine.areOrdinary(Int32Array.of(id))[0])
  t.ok(control.length > 0)
  for (const id of [...control, think![0]!]) t.notOk(plain!.includes(id), `${id}`)

  // In that vocabulary, a full stop and the line breaks after it are one token.
  const readout = await createReadout(engine)
  const questions = { it: { type: 'noul', instructions: 'Is it late?' } } as const
  const { prefix, suffixes } = readout.render({ state: 'The parcel is late.', questions }).input
  const parts = [...prefix, ...suffixes[0]!.parts]
  const whole = parts.map(({ text }) => text).join('')
  const [expected, ...tokens] = await engine.tokenize([{ text: whole, trusted: true }, ...parts])
  t.strictSame(
    tokens.flatMap((ids) => [...ids]),
    [...expected!],
  )
  t.match(prefix.at(-1)!.text, /late\.\n\nTask:$/, 'and what follows the state is shared with it')
})

t.test('inspect shows the family, its temperatures and how a noul is read', async (t) => {
  const lev = await command(['models', 'inspect', await modelOf('lev')])
  t.equal(lev.code, 0)
  t.match(lev.stdout, /^readout +lev@1$/m)
  t.match(lev.stdout, /^decision model +lev$/m)
  t.match(
    lev.stdout,
    /^temperatures +choice 1-8 options 0\.8, 9-26 options 1\.25, from 27 options 1\.4; score 0\.9; noul 1\.6$/m,
  )
  t.match(lev.stdout, /^noul +9 ratings, from "A", a certain no, to "I", a certain yes$/m)

  const json = await command(['models', 'inspect', '--json', await modelOf('nimble')])
  t.match(JSON.parse(json.stdout), {
    readout: { name: 'nimble@1', decisionType: 'nimble', temperatures: [] },
  })
})

t.test('a type that cannot be served is refused by name', async (t) => {
  for (const type of ['laya', 'clef', 'lfm2-d1-omni', 'unheard-of']) {
    await t.rejects(open({ ...options, model: await modelOf(type) }), {
      code: 'ERR_READOUT',
      message: new RegExp(`^decision model of the type ${type}: `),
    })
  }
  const { code, stdout } = await command(['models', 'inspect', await modelOf('clef')])
  t.equal(code, 1)
  t.match(stdout, /^can be served +no: decision model of the type clef: it asks all questions/m)
})

t.test('a model with a head that llama.cpp lacks is refused by name', async (t) => {
  await t.rejects(open({ ...options, model: await modelOf('kev') }), {
    code: 'ERR_MODEL_UNSUPPORTED',
    message: /decision model of the type kev, which this llama\.cpp cannot load: .*tensor/,
  })
})

t.test('a decoder that reads in both directions is refused by name', async (t) => {
  const file = join(t.testdir({}), 'both.gguf')
  writeGguf(file, readGguf(await modelOf('pplx-decider')), { 'qwen3.attention.causal': false })
  await t.rejects(open({ ...options, model: file }), {
    code: 'ERR_MODEL_UNSUPPORTED',
    message: /decision model of the type pplx-decider: qwen3\.attention\.causal: expected true/,
  })
})

t.test('a damaged file of a supported type is damaged, not unsupported', async (t) => {
  const whole = readFileSync(await modelOf('openjev'))
  const file = join(t.testdir({}), 'cut.gguf')
  writeFileSync(file, whole.subarray(0, whole.length - 100_000))
  await t.rejects(open({ ...options, model: file }), { code: 'ERR_MODEL_LOAD' })
})
