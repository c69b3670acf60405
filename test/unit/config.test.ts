import t from 'tap'
import { join } from 'node:path'
import { readConfig, reportSettings, settings, unknownVariables } from '../../src/config.js'

t.test('the defaults', async (t) => {
  const config = readConfig({ PATH: '/bin', OI_TEST_MODEL: 'x' })
  t.match(config, { host: '127.0.0.1', port: 8080, maxBodyBytes: 0, deadlineMs: 60_000 })
  t.ok(Object.isFrozen(config))
})

t.test('a default that is set by hand is valid', async (t) => {
  const environment = Object.fromEntries(
    settings.map((setting) => [setting.variable, String(setting.default)]),
  )
  const read = readConfig(environment)
  t.strictSame({ ...read, origins: {} }, { ...readConfig({}), origins: {} })
  t.strictSame(new Set(Object.values(read.origins)), new Set(['environment']))
})

t.test('a boolean is a flag without a value, and 1, 0, true or false in a variable', async (t) => {
  t.equal(readConfig({}).deterministic, false)
  t.equal(readConfig({}, { deterministic: true }).deterministic, true)
  for (const [text, value] of [
    ['1', true],
    ['true', true],
    ['0', false],
    ['false', false],
  ] as const) {
    t.equal(readConfig({ OI_DETERMINISTIC: text }).deterministic, value)
  }
})

t.test('a named model has the common settings', async (t) => {
  const { models } = readConfig({ OI_THREADS: '2' }, { model: 'a.gguf', contextTokens: '4096' })
  t.match(models, [{ file: 'a.gguf', threads: 2, contextTokens: 4096, default: true }])
  t.strictSame(readConfig({}).models, [])
})

t.test("orders are a number, or all, and otherwise the model's own", async (t) => {
  t.equal(readConfig({}).orders, 'auto')
  t.equal(readConfig({ OI_ORDERS: '2' }).orders, 2)
  t.equal(readConfig({ OI_ORDERS: '2' }, { orders: 'all' }).orders, 'all')
  const { models } = readConfig({ OI_MODEL: 'a.gguf', OI_ORDERS: '2' })
  t.match(models, [{ orders: 2 }])
})

for (const [title, environment, flags, message] of [
  [
    'a number out of its range',
    { OI_PORT: '65536' },
    {},
    /^OI_PORT: expected .* to 65535, got 65536/,
  ],
  ['a number that is none', {}, { port: '80a' }, /^--port: expected an integer .*"80a"/],
  ['a fraction', {}, { port: '80.5' }, /^--port/],
  ['an empty number', { OI_PORT: '' }, {}, /^OI_PORT/],
  ['an empty text', { OI_HOST: '' }, {}, /^OI_HOST: expected a text/],
  ['no boolean', { OI_DETERMINISTIC: 'yes' }, {}, /^OI_DETERMINISTIC: expected .*, got "yes"/],
  [
    'another number',
    { OI_ORDERS: '3' },
    {},
    /^OI_ORDERS: expected "auto" or 1 or 2 or "all", got 3/,
  ],
  [
    'another word',
    {},
    { orders: 'both' },
    /^--orders: expected "auto" or 1 or 2 or "all", got "both"/,
  ],
  ['another choice', {}, { log: 'all' }, /^--log: expected "off" or "requests", got "all"/],
  ['an unknown flag', {}, { thread: 1 }, /thread: did you mean threads\?/],
] as const) {
  t.test(`${title} is refused by name`, async (t) => {
    t.throws(() => readConfig(environment, flags), { code: 'ERR_CONFIG', message })
  })
}

t.test('variables that nothing reads are named, with the nearest known name', async (t) => {
  const known = { OI_PORT: '1', OI_KEY: 'k', OI_API_KEY: 'k', OI_ADDON: 'a', OI_TEST_X: '1' }
  t.strictSame(unknownVariables({ ...known, PATH: '/bin', OI_LOST: undefined }), [])
  t.strictSame(unknownVariables({ ...known, OI_PROT: '1', OI_KYE: 'k' }), [
    'Unknown setting OI_PROT: did you mean OI_PORT?',
    'Unknown setting OI_KYE: did you mean OI_KEY?',
  ])
})

t.test('shares of GPUs are numbers separated by commas', async (t) => {
  t.equal(readConfig({}, { tensorSplit: '3, 1.5' }).tensorSplit, '3, 1.5')
  for (const tensorSplit of ['3,', '-1', '1;2', 'x']) {
    t.throws(() => readConfig({}, { tensorSplit }), {
      code: 'ERR_CONFIG',
      message: /--tensor-split/,
    })
  }
})

t.test('devices are names separated by commas', async (t) => {
  const { models } = readConfig({ OI_DEVICE: 'CUDA0, cpu' }, { model: 'a.gguf', replicas: '4' })
  t.match(models, [{ device: 'CUDA0, cpu', replicas: 4 }])
  for (const device of ['CUDA0,', 'CUDA0 CUDA1', ',']) {
    t.throws(() => readConfig({}, { device }), { code: 'ERR_CONFIG', message: /--device/ })
  }
})

t.test('a secret is never shown', async (t) => {
  const config = readConfig({ OI_OTLP_HEADERS: 'authorization=Bearer planted' })
  t.equal(config.otlpHeaders, 'authorization=Bearer planted')
  t.notMatch(JSON.stringify(reportSettings(config)), 'planted')
  t.throws(() => readConfig({ OI_OTLP_HEADERS: 'planted' }), {
    message: /^OI_OTLP_HEADERS: expected headers like name=value .*, got "…"$/,
  })
})

t.test('a collector is a base address only', async (t) => {
  for (const otlpEndpoint of ['http://127.0.0.1:4318', 'https://collector.example/otlp/']) {
    t.equal(readConfig({}, { otlpEndpoint }).otlpEndpoint, otlpEndpoint)
  }
  for (const otlpEndpoint of ['collector:4318', 'http://', 'http://a/b?c', 'http://k@host', 'x']) {
    t.throws(() => readConfig({}, { otlpEndpoint }), { message: /^--otlp-endpoint: expected/ })
  }
})

t.test('a flag wins over a variable, which wins over the file; each is listed', async (t) => {
  const config = join(t.testdir({ 'oi.json': '{"port":1,"threads":1,"maxQueued":1}' }), 'oi.json')
  const read = readConfig({ OI_CONFIG: config, OI_THREADS: '2', OI_PORT: '2' }, { port: '3' })
  t.match(read, { port: 3, threads: 2, maxQueued: 1, graceMs: 10_000 })
  t.match(read.origins, {
    ...{ config: 'environment', port: 'flag', threads: 'environment', maxQueued: 'file' },
    host: 'default',
  })
  const reports = reportSettings(read)
  t.equal(reports.length, settings.length)
  t.match(
    reports.find(({ name }) => name === 'port'),
    { value: 3, origin: 'flag', default: 8080, live: false },
  )
  const drain = reports.find(({ name }) => name === 'drainMs')
  t.match(drain, { value: 3000, origin: 'default', unit: 'milliseconds', live: true })
})
