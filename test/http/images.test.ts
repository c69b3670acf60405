/** Images over HTTP: a whole server over an engine without a model, with vision. */
import t from 'tap'
import { createWire } from '../../src/server/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import { RunningCommand } from '../helpers/command.js'
import { createFakeEngine, type FakeEngine } from '../helpers/fake-engine.js'
import { blackPng, block, dataUrl, png } from '../helpers/pictures.js'
import { type StubServer, withServer } from '../helpers/stub.js'

const small = await png(60, 30)
const facts = { fileName: 'fake.gguf', digest: 'sha256:', releaseDate: '2025-01-01' }
const questions = { q: { type: 'noul', instructions: 'Is it?' } }
const mebibyte = 2 ** 20

async function withEyes(use: (server: StubServer, engine: FakeEngine) => Promise<void>) {
  const engine = createFakeEngine({ info: { vision: true } })
  const decider = await createDecider(engine, facts)
  const wire = createWire(readConfig({}))
  await withServer({ decider, wire, maxBodyBytes: 64 * mebibyte }, (server) => use(server, engine))
}

const post = (url: string, key: string, body: object) =>
  fetch(`${url}/v1/systemone`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ questions, ...body }),
  })

t.test('an image is seen, counted and timed', (t) =>
  withEyes(async ({ url, key }) => {
    const reply = await post(url, key, { state: { photo: block(small) } })
    t.equal(reply.status, 200)
    t.match(await reply.json(), { usage: { image_tokens: 6 } })
    const [, vision] = /vision;dur=([\d.]+)/.exec(reply.headers.get('server-timing')!)!
    t.ok(Number(vision) >= 2.5)
  }),
)

t.test('the list of models has their modalities', (t) =>
  withEyes(async ({ url, key }) => {
    const headers = { authorization: `Bearer ${key}` }
    const reply = await fetch(`${url}/v1/models`, { headers })
    t.match(await reply.json(), {
      models: [{ modalities: ['text', 'image'], limits: { max_images: 8 } }],
    })
  }),
)

t.test('bad images are 400 or 422 with their place, and the server goes on', (t) =>
  withEyes(async ({ url, key }, engine) => {
    const bomb = block(blackPng(100_000, 100_000, false))
    for (const [body, status, param] of [
      [{ state: { photo: bomb } }, 400, 'state.photo.source.data'],
      [{ state: [block(small.subarray(0, 60))] }, 400, 'state[0].source.data'],
      [{ state: block(small, 'image/jpeg') }, 400, 'state.source.data'],
      [{ state: '', images: ['https://example.com/a.png'] }, 400, 'images[0]'],
      [{ state: '', images: new Array(9).fill(dataUrl(small)) }, 400, 'images[8]'],
      [{ state: { a: block(small, 'image/png', { max_pixels: 1 }) } }, 400, 'state.a.max_pixels'],
      [{ state: { type: 'image', source: {} } }, 422, 'state.source.type'],
      [{ state: '', images: [null] }, 422, 'images[0]'],
    ] as const) {
      const reply = await post(url, key, body)
      t.equal(reply.status, status)
      const { error, detail } = (await reply.json()) as {
        error: { message: string }
        detail: string
      }
      t.match(error, { code: 'invalid_request', param })
      t.equal(detail, error.message)
    }
    t.equal(engine.scored.length, 0)
    t.equal((await post(url, key, { state: block(small) })).status, 200)
  }),
)

t.test('eight images of 4 MiB pass', (t) =>
  withEyes(async ({ url, key }) => {
    // Bytes after the last chunk of a PNG are not part of it.
    const file = Buffer.concat([small, Buffer.alloc(4 * mebibyte - small.length)])
    const reply = await post(url, key, { state: '', images: new Array(8).fill(dataUrl(file)) })
    t.equal(reply.status, 200)
    t.match(await reply.json(), { usage: { image_tokens: 48 } })
  }),
)

t.test('clients that leave while images are decoded disturb no other client', (t) =>
  withEyes(async ({ url, key }) => {
    const body = JSON.stringify({ questions, state: block(await png(3000, 2000)) })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const signal = AbortSignal.timeout(5 * i)
        const request = fetch(`${url}/v1/systemone`, { method: 'POST', headers, body, signal })
        await request.then((reply) => reply.text()).catch(() => {})
      }),
    )
    t.equal((await post(url, key, { state: block(small) })).status, 200)
  }),
)

for (const [projector, status] of [
  [[], 413],
  [['--mmproj', 'p.gguf'], 200],
] as const) {
  t.test(`oi serve ${projector.join(' ')} answers 6 MiB with ${status}`, async (t) => {
    const args = ['serve', '--model', 'fake.gguf', '--port', '0', '--data', t.testdir()]
    const command = new RunningCommand([...args, ...projector], 'fake')
    t.teardown(() => command.process.kill('SIGKILL'))
    const [, url] = await command.match(/Listening on (http:\S+)/)
    const [, key] = await command.match(/^\s*(oi-[\w-]{43})$/m)
    await command.match(/^Ready$/m)
    const file = Buffer.concat([small, Buffer.alloc(4.5 * mebibyte)])
    t.equal((await post(url!, key!, { state: block(file) })).status, status)
    command.process.kill('SIGTERM')
    t.equal(await command.exited, 0)
  })
}
