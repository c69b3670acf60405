/**
 * Models of random weights: the properties that tests and benchmarks rely on.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ensureModel } from '../../scripts/make-model/ensure.js'
import { withLock } from '../../scripts/make-model/lock.js'
import { ToolError, writeModel, type ModelOptions } from '../../scripts/make-model/tool.js'

const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

t.test('a seed and a type give the same bytes every time, another seed gives others', async (t) => {
  const dir = t.testdir()
  const make = async (file: string, seed: number) => {
    await writeModel('fixture-small', join(dir, file), { seed, type: 'Q8_0' }, false)
    return digest(join(dir, file))
  }
  const first = await make('a.gguf', 1)
  t.equal(await make('b.gguf', 1), first)
  t.not(await make('c.gguf', 2), first)
  t.same(readdirSync(dir).sort(), ['a.gguf', 'b.gguf', 'c.gguf'], 'no temporary file is left')
})

t.test('a model is made once and found again', async (t) => {
  const options = { type: 'Q8_0' }
  const [first, second] = await Promise.all([
    ensureModel('fixture-small', options),
    ensureModel('fixture-small', options),
  ])
  t.equal(first, second)
  t.equal(await ensureModel('fixture-small', options), first)
  t.not(await ensureModel('fixture-small', { ...options, template: 'none' }), first)
})

t.test('a wrong name, type, vocabulary, template or path: one line, exit code 1', async (t) => {
  const dir = t.testdir()
  const out = join(dir, 'x.gguf')
  const refuses = async (message: RegExp, name: string, path: string, options: ModelOptions) => {
    const error: unknown = await writeModel(name, path, options, false).catch((e: unknown) => e)
    t.type(error, ToolError)
    t.match(error, { exitCode: 1, message })
  }
  const small = 'fixture-small'
  await refuses(/^Unknown model nope; use .*$/, 'nope', out, {})
  await refuses(/^Unknown type q8; use .*$/, small, out, { type: 'q8' })
  await refuses(/^No vocabulary zip .* one of .*$/, small, out, { vocab: 'zip' })
  await refuses(/^No template in .*; use .*$/, small, out, { template: '/no' })
  await refuses(/^Cannot write .*; give .*$/, small, join(dir, 'no/x'), {})
  // A rename would replace a device or a socket like a file.
  await refuses(/^Cannot write .* not a regular file; give .*$/, small, dir, {})
  t.same(readdirSync(dir), [])
})

t.test('a lock has one owner at a time, and ends with it', async (t) => {
  const path = join(t.testdir({ abandoned: '2147483647' }), 'lock')
  let inside = 0
  let most = 0
  const enter = () =>
    withLock(path, async () => {
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, 20))
      inside--
    })
  await Promise.all([enter(), enter(), enter()])
  t.equal(most, 1)
  t.equal(await withLock(join(path, '../abandoned'), async () => 'in'), 'in')
})
