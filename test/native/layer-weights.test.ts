/** The sizes of layers by a file's header: `oi-layers-test`, which is built first. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { fixturePath } from '../helpers/fixture.js'

// BUG: a header of a few bytes asked for memory for four billion layers.
t.test('a hostile number of layers is refused by name, before anything is allocated', async (t) => {
  const program = join(await buildNative(new Set(), ['oi-layers-test']), 'oi-layers-test')
  const bytes = readFileSync(await fixturePath('small'))
  const key = 'qwen3.block_count'
  const place = bytes.indexOf(key) + key.length + 4
  const path = join(t.testdir(), 'layers.gguf')
  const read = (layers: number) => {
    bytes.writeUInt32LE(layers, place)
    writeFileSync(path, bytes)
    const { status, stdout } = spawnSync(program, [path], { encoding: 'utf8' })
    return { status, said: stdout.trim() }
  }
  t.strictSame(read(512), { status: 0, said: '513' })
  for (const layers of [513, 65_536, 2 ** 32 - 1]) {
    const said = `ERR_MODEL_LOAD ${path}: ${key}: expected at most 512, got ${layers}`
    t.strictSame(read(layers), { status: 1, said })
  }
})
