/** The client's options, and its blocks for images. */
import t from 'tap'
import { createClient, image, imageFromBlob } from '../../src/client/index.js'
import type { ClientOptions } from '../../src/client/index.js'

const good = { baseUrl: 'http://localhost:8080', apiKey: 'oi-key' }

for (const [baseUrl, expected] of [
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://localhost:8080/', 'http://localhost:8080'],
  ['http://localhost:8080/v1', 'http://localhost:8080'],
  ['http://localhost:8080/v1/', 'http://localhost:8080'],
  ['https://example.com/oi//', 'https://example.com/oi'],
  ['https://example.com/oi/v1', 'https://example.com/oi'],
  ['https://example.com/v10', 'https://example.com/v10'],
  ['http://[::1]:80/?a#b', 'http://[::1]'],
] as const) {
  t.test(`the address ${baseUrl} is ${expected}`, async (t) => {
    t.equal(createClient({ ...good, baseUrl }).baseUrl, expected)
  })
}

for (const [title, options, message] of [
  ['an address without a protocol', { baseUrl: 'localhost:1' }, /^baseUrl: expected an address/],
  ['no address', { baseUrl: undefined }, /^baseUrl: .* got undefined$/],
  ['an address of another protocol', { baseUrl: 'ftp://a' }, /^baseUrl: .* got ftp:\/\/a$/],
  ['no key', { apiKey: undefined }, /^apiKey: /],
  ['an empty key', { apiKey: '' }, /^apiKey: /],
  ['a key with a line break', { apiKey: 'oi-a\nb' }, /^apiKey: /],
  ['no time', { timeoutMs: 0 }, /^timeoutMs: .* got 0$/],
  ['endless time', { timeoutMs: Infinity }, /^timeoutMs: /],
  ['time that is none', { timeoutMs: NaN }, /^timeoutMs: /],
  ['an option that is none', { timeout: 5 }, /^timeout: .* expected one of baseUrl, .*timeoutMs/],
  ['half a retry', { maxRetries: 0.5 }, /^maxRetries: .* got 0.5$/],
  ['fewer retries than none', { maxRetries: -1 }, /^maxRetries: /],
] as const) {
  t.test(`${title} is refused by createClient()`, async (t) => {
    t.throws(() => createClient({ ...good, ...options } as ClientOptions), {
      name: 'TypeError',
      message,
    })
  })
}

t.test('an unknown option of a call is refused before anything is sent', async (t) => {
  const fetch = () => Promise.reject(new Error('sent'))
  const client = createClient({ ...good, fetch })
  const options: object = { order: 2 }
  const refusal = { name: 'TypeError', message: /^order: .* expected one of .*orders$/ }
  await t.rejects(client.decideText('{}', options), refusal)
  await t.rejects(client.models(options), refusal)
})

t.test('a message about a key does not show it', async (t) => {
  try {
    createClient({ ...good, apiKey: 'oi-secret key' })
    t.fail('it was taken')
  } catch (error) {
    t.notMatch(error, { message: /secret/ })
  }
})

t.test('an image becomes a block, whatever holds its bytes', async (t) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31) & 255)
  const data = Buffer.from(bytes).toString('base64')
  const source = { type: 'base64', media_type: 'image/png', data }
  t.strictSame(image(bytes, 'image/png'), { type: 'image', source })
  t.strictSame(image(bytes.buffer, 'image/png'), { type: 'image', source })
  t.strictSame(image(data, 'image/png', { maxPixels: 4096 }), {
    type: 'image',
    source,
    max_pixels: 4096,
  })
  const blob = new Blob([bytes], { type: 'image/png' })
  t.strictSame(await imageFromBlob(blob), { type: 'image', source })
  t.strictSame(await imageFromBlob(blob, { maxPixels: 9999 }), {
    type: 'image',
    source,
    max_pixels: 9999,
  })
})

t.test('a view of a buffer is only its part, and base64 is padded correctly', async (t) => {
  const all = Uint8Array.of(1, 2, 3, 4, 5, 6)
  for (const [from, to] of [
    [0, 0],
    [1, 2],
    [1, 3],
    [2, 5],
  ] as const) {
    const { data } = image(all.subarray(from, to), 'image/gif').source
    t.equal(data, Buffer.from(all.subarray(from, to)).toString('base64'))
  }
})
