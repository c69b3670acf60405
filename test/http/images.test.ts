/** Images over HTTP: a whole server over an engine without a model, with vision. */
import t from 'tap'
import { block, dataUrl, png } from '../helpers/pictures.js'
import { withFake, type FakeServer } from '../helpers/stub.js'
import { type Address, decidePath, post } from '../helpers/asking.js'
import { Served } from '../helpers/served.js'

const small = await png(60, 30)
const questions = { q: { type: 'noul', instructions: 'Is it?' } }
const mebibyte = 2 ** 20

const withEyes = (use: (server: FakeServer) => Promise<void>) =>
  withFake({ vision: true, maxBodyBytes: 64 * mebibyte }, use)

const ask = (server: Address, body: object) => post(server, { questions, ...body })

t.test('eight images of 4 MiB pass', (t) =>
  withEyes(async (server) => {
    // Bytes after the last chunk of a PNG are not part of it.
    const file = Buffer.concat([small, Buffer.alloc(4 * mebibyte - small.length)])
    const reply = await ask(server, { state: '', images: new Array(8).fill(dataUrl(file)) })
    t.equal(reply.status, 200)
    t.match(await reply.json(), { usage: { image_tokens: 48 } })
  }),
)

t.test('clients that leave while images are decoded disturb no other client', (t) =>
  withEyes(async (server) => {
    const body = { questions, state: block(await png(3000, 2000)) }
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const signal = AbortSignal.timeout(5 * i)
        const request = post(server, body, {}, decidePath, signal)
        await request.then((reply) => reply.text()).catch(() => {})
      }),
    )
    t.equal((await ask(server, { state: block(small) })).status, 200)
  }),
)

for (const [projector, status] of [
  [[], 413],
  [['--mmproj', 'p.gguf'], 200],
] as const) {
  t.test(`oi serve ${projector.join(' ')} answers 6 MiB with ${status}`, async (t) => {
    const served = await Served.start(t, { model: 'fake', args: projector })
    const file = Buffer.concat([small, Buffer.alloc(4.5 * mebibyte)])
    t.equal((await ask(served, { state: block(file) })).status, status)
    t.equal(await served.server.stop(), 0)
  })
}
