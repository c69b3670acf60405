/** The settings file, and its place between environment and defaults. */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import { readConfig } from '../../src/config.js'

function fileWith(t: Test, content: unknown): { dir: string; config: string } {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const dir = t.testdir({ 'oi.json': text })
  return { dir, config: join(dir, 'oi.json') }
}

t.test("a model's own settings win over the file's, not over a flag", async (t) => {
  const { config } = fileWith(t, {
    threads: 2,
    maxBacklogMs: 500,
    models: [
      { file: 'a.gguf', threads: 1, gpuLayers: 3, orders: 'all' },
      { file: 'b.gguf', name: 'b', aliases: ['c'] },
    ],
  })
  t.match(readConfig({}, { config, gpuLayers: '0' }).models, [
    { threads: 1, gpuLayers: 0, orders: 'all', maxBacklogMs: 500, default: true },
    { threads: 2, gpuLayers: 0, orders: 'auto', name: 'b', aliases: ['c'], default: false },
  ])
})

t.test('paths are relative to the folder of the file', async (t) => {
  const { dir, config } = fileWith(t, {
    dataDir: 'data',
    diskCacheDir: 'states',
    calibration: 'c.json',
    models: [
      { file: 'models/a.gguf', mmproj: 'models/p.gguf' },
      { file: '/b.gguf', diskCacheDir: '', calibration: 'off' },
    ],
  })
  t.match(readConfig({}, { config }), {
    dataDir: join(dir, 'data'),
    models: [
      {
        file: join(dir, 'models/a.gguf'),
        mmproj: join(dir, 'models/p.gguf'),
        diskCacheDir: join(dir, 'states'),
        calibration: join(dir, 'c.json'),
      },
      { file: '/b.gguf', mmproj: '', diskCacheDir: '', calibration: 'off' },
    ],
  })
})

t.test("a model named outside of the file replaces the file's models", async (t) => {
  const { config } = fileWith(t, { threads: 2, models: [{ file: 'a.gguf' }, { file: 'b.gguf' }] })
  const { models } = readConfig({ OI_MODEL: 'c.gguf' }, { config })
  t.equal(models.length, 1)
  t.match(models, [{ file: 'c.gguf', threads: 2 }])
})

t.test('a missing file is refused with its path', async (t) => {
  t.throws(() => readConfig({}, { config: 'none.json' }), {
    code: 'ERR_CONFIG',
    message: /^none\.json: there is no such file$/,
  })
})

for (const [title, content, message] of [
  [
    'text that is not JSON',
    '{\n  "port": 1,\n}',
    /expected a quoted name, got "}" at line 3, column 1$/,
  ],
  ['text that ends early', '{"port":', /got the end at line 1, column 9$/],
  ['a list', [], /oi\.json: expected an object$/],
  ['an unknown setting', { prot: 1 }, /oi\.json: unknown setting prot: did you mean port\?$/],
  ['another file', { config: 'x' }, /unknown setting config/],
  ['a wrong value', { port: '1' }, /oi\.json: port: expected an integer .*, got "1"$/],
  ['a setting that stands twice', '{"port":1,"port":2}', /port is given twice$/],
  ['no model', { models: [] }, /models: expected an array of at least one model$/],
  ['a model that is no object', { models: ['a'] }, /models\[0\]: expected an object$/],
  ['a model without a file', { models: [{}] }, /models\[0\]\.file: expected the path .* nothing$/],
  ['an unknown setting of a model', { models: [{ fil: 'a' }] }, /models\[0\]: unknown.* file\?$/],
  [
    'a wrong value of a model',
    { models: [{ file: 'a' }, { file: 'b', cacheType: 'q8' }] },
    /models\[1\]\.cacheType: expected "f16" or "f32" or "bf16", got "q8"$/,
  ],
  [
    'aliases that are none',
    { models: [{ file: 'a', aliases: [1] }] },
    /\.aliases: expected an array/,
  ],
  [
    'model and models',
    { model: 'a', models: [{ file: 'b' }] },
    /expected model or models, got both/,
  ],
] as const) {
  t.test(`${title} is refused with its place`, async (t) => {
    const { config } = fileWith(t, content)
    t.throws(() => readConfig({}, { config }), { code: 'ERR_CONFIG', message })
  })
}
