/**
 * Files on which llama.cpp aborts: tried in another process, and refused.
 *
 * BUG: false headers (6,200 mutations) aborted the process 89 times, also through `inspect`, which
 * said "can be served" of some; a projector with a renamed tensor was "Ready", and the first image
 * ended the server.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { open } from '../../src/open.js'
import { requireLoadable } from '../../src/opening/require-loadable.js'
import { fixturePath, projectorPath } from '../helpers/fixture.js'

const dir = t.testdir({})
process.env['XDG_CACHE_HOME'] = join(dir, 'cache')
const options = { contextTokens: 512, threads: 1 }

/** The file with other bytes after the first occurrence of `text`. */
function changed(from: string, name: string, text: string, change: (behind: Buffer) => void) {
  const bytes = readFileSync(from)
  const at = bytes.indexOf(text)
  change(bytes.subarray(at + text.length))
  const path = join(dir, name)
  writeFileSync(path, bytes)
  return path
}
const oi = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], { encoding: 'utf8' })

const small = await fixturePath('small')
/** Its norm claims the type F16: the first evaluation fails an assertion. */
const aborting = changed(small, 'aborting.gguf', 'output_norm.weight', (behind) =>
  // After the name: the number of dimensions (4 bytes), one of them (8), the type.
  behind.writeUInt32LE(1, 12),
)

t.test("a file on which llama.cpp aborts is refused with llama.cpp's last message", async (t) => {
  await t.rejects(requireLoadable({ ...options, modelPath: aborting }), {
    code: 'ERR_MODEL_LOAD',
    message: /^llama\.cpp aborted while loading .*aborting\.gguf.*SIG/,
  })
  await t.rejects(open({ ...options, model: aborting, isolate: true }), {
    code: 'ERR_MODEL_LOAD',
    message: /aborted while loading/,
  })
})

t.test('inspect, ask and serve report it, and end by themselves', async (t) => {
  for (const command of [
    ['serve', '--model', aborting, '--port', '0', '--data-dir', join(dir, 'data')],
    ['models', 'inspect', aborting],
    ['ask', 'Hello.', '--noul', 'Is it?', '--model', aborting],
  ]) {
    const { status, signal, stderr, stdout } = oi(...command)
    t.same({ status, signal }, { status: 1, signal: null })
    t.match(stderr, /^oi: llama\.cpp aborted while loading/m)
    t.notMatch(stdout, /Ready|can be served/)
  }
})

t.test('a projector that cannot work is refused before the first image', async (t) => {
  const projector = await projectorPath()
  const modelPath = await fixturePath('experts')
  for (const [tensor, message] of [
    ['v.patch_embd.weight', /aborted while loading .*showing it an image; SIG/],
    ['v.blk.0.ln1.bias', /lacks the tensor v\.blk\.0\.ln1\.bias/],
    ['mm.2.weight', /unable to find tensor mm\.2\.weight/],
  ] as const) {
    const path = changed(projector, 'blind.gguf', tensor.slice(0, -1), (behind) =>
      behind.write('x'),
    )
    const refused = requireLoadable({ ...options, modelPath, projectorPath: path })
    await t.rejects(refused, { code: 'ERR_MODEL_LOAD', message }, tensor)
  }
  await requireLoadable({ ...options, modelPath, projectorPath: projector })
})

t.test('serve, whose model is in another process, refuses it as well', async (t) => {
  const path = changed(await projectorPath(), 'unseeing.gguf', 'v.patch_embd.weigh', (behind) =>
    behind.write('x'),
  )
  const modelPath = await fixturePath('experts')
  const files = ['--model', modelPath, '--mmproj', path, '--context-tokens', '512']
  const data = ['--data-dir', join(dir, 'blind')]
  const { status, signal, stderr, stdout } = oi('serve', ...files, '--port', '0', ...data)
  t.same({ status, signal }, { status: 1, signal: null })
  t.match(stderr, /aborted while loading .* with .*unseeing.*\(showing it an image; SIG[A-Z]+\)/)
  t.notMatch(stdout, /Ready/)
  t.notOk(existsSync(join(dir, 'blind', 'crashes')), 'a start that fails says why itself')
})

t.test('impossible numbers are refused before llama.cpp sees them', async (t) => {
  for (const [key, value, message] of [
    ['qwen3.block_count', 0, /block_count = 0/],
    ['qwen3.rope.dimension_count', 4096, /rope\.dimension_count = 4096/],
    ['qwen3.embedding_length', 0xffffffff, /embedding_length = 4294967295/],
  ] as const) {
    const path = changed(small, 'number.gguf', key, (behind) => behind.writeUInt32LE(value, 4))
    const outcome = await open({ ...options, model: path }).then(
      async (oi) => (await oi.close(), 'opened'),
      (error: Error) => error.message,
    )
    t.match(outcome, message, key)
  }
})

t.test('a success is remembered, until the file changes', async (t) => {
  const path = changed(small, 'remembered.gguf', 'general.name', () => {})
  const request = { ...options, modelPath: path }
  await requireLoadable(request)
  // Nothing can be started there, and nothing has to be.
  const { execPath } = process
  process.execPath = join(dir, 'absent')
  await requireLoadable(request)
  const remembered = readdirSync(join(dir, 'cache', 'oi-systemone', 'loaded'))
  process.execPath = execPath
  t.ok(remembered.length > 0)
  writeFileSync(path, readFileSync(aborting))
  await t.rejects(requireLoadable(request), { code: 'ERR_MODEL_LOAD' })
})
