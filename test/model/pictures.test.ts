/**
 * An image in every form in which clients send it, in bodies as they send them, and the whole
 * server over a model with vision: same tokens and same answers, bit for bit. Over a model that
 * reads text each form is refused at its place.
 *
 * Needs the built addon, the fixtures and their projector.
 */
import t from 'tap'
import type { EngineOptions } from '../../src/engine/engine.js'
import { compressors } from '../helpers/compressed.js'
import { projectorPath } from '../helpers/fixture.js'
import { picturesIn } from '../helpers/picture-forms.js'
import { quarters } from '../helpers/pictures.js'
import { type RealServer, withRealServer } from '../helpers/real-server.js'

const png = await quarters(112, 84).png({ compressionLevel: 0 }).toBuffer()
const { inState, beside } = picturesIn(png)
const questions = {
  cat: { type: 'noul', instructions: 'Is it a cat?' },
  which: { type: 'choice', instructions: 'Which?', criteria: { cat: null, dog: 'barks' } },
}
const formNames = Object.keys(inState)
const partForm = 'an asset in a part'

type Body = string | Uint8Array<ArrayBuffer> | FormData

async function post({ url, key }: RealServer, body: Body, headers: Record<string, string> = {}) {
  const own = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const reply = await fetch(`${url}/v1/systemone`, {
    method: 'POST',
    // With the logits, to compare bits and not printed digits.
    headers: { authorization: `Bearer ${key}`, 'x-oi-evidence': '1', ...own, ...headers },
    body,
  })
  return { status: reply.status, ...((await reply.json()) as Reply) }
}

interface Reply {
  readonly answers?: object
  readonly usage?: { readonly input_tokens: number; readonly image_tokens?: number }
  readonly error?: { readonly code: string; readonly message: string; readonly param?: string }
}

const asking = (body: object) => JSON.stringify({ ...body, questions })

/** As browsers and Node write it. */
function form(body: object): FormData {
  const data = new FormData()
  data.append('request', new Blob([asking(body)], { type: 'application/json' }))
  data.append('p', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'p.png')
  return data
}

/** A body whose state has the image in that form. */
function bodyOf(what: string): Body {
  const [photo, rest] = inState[what]!
  const body = { state: { photo, n: 1 }, ...rest }
  return what === partForm ? form(body) : asking(body)
}

/** A reply without the parts that differ: times, and cached tokens. */
const told = ({ status, answers, usage, error }: Awaited<ReturnType<typeof post>>) => ({
  ...{ status, answers, usage, error },
})

async function withSight(use: (server: RealServer) => Promise<void>): Promise<void> {
  const options: Omit<EngineOptions, 'modelPath'> = {
    ...{ projectorPath: await projectorPath(), deterministic: true, microbatchTokens: 64 },
    maxBacklogMs: 2 ** 31,
  }
  await withRealServer({ fixture: 'dense', ...options, handlers: { maxBodyBytes: 2 ** 26 } }, use)
}

t.test('an image in every form is the same tokens and the same answer', (t) =>
  withSight(async (server) => {
    const first = await post(server, bodyOf(formNames[0]!))
    t.equal(first.status, 200)
    t.equal(first.usage!.image_tokens, 12)
    for (const what of formNames) {
      t.strictSame(told(await post(server, bodyOf(what))), told(first), what)
    }
    const [whole, ...others] = Object.entries(beside)
    const shown = await post(server, asking({ state: 'x', ...whole![1] }))
    t.equal(shown.usage!.image_tokens, 12)
    for (const [what, rest] of others) {
      t.strictSame(told(await post(server, asking({ state: 'x', ...rest }))), told(shown), what)
    }
    const blind = await post(server, asking({ state: { photo: 'x', n: 1 } }))
    t.notSame(blind.answers, first.answers, 'the picture counts')
  }),
)

t.test('compressed bodies of clients are answered like plain ones, bit for bit', (t) =>
  withSight(async (server) => {
    const parts = new Response(bodyOf(partForm))
    const type = parts.headers.get('content-type')!
    const many = new Uint8Array(await parts.arrayBuffer())
    const words = asking({ state: 'I was charged twice. '.repeat(60) })
    for (const [body, headers] of [
      [Buffer.from(bodyOf(formNames[0]!) as string), { 'content-type': 'application/json' }],
      [many, { 'content-type': type }],
      [Buffer.from(words), { 'content-type': 'application/json' }],
    ] as const) {
      t.ok(body.length >= 1024, 'as long as clients compress')
      const plain = await post(server, new Uint8Array(body), headers)
      t.equal(plain.status, 200)
      for (const [what, [coding, compress]] of Object.entries(compressors)) {
        const sent = new Uint8Array(compress(Buffer.from(body)))
        const reply = await post(server, sent, { ...headers, 'content-encoding': coding })
        t.strictSame(told(reply), told(plain), what)
      }
    }
  }),
)

t.test('a model that reads text refuses every form at its place', (t) =>
  withRealServer({}, async (server) => {
    const refused = async (what: string, body: Body, param: string) => {
      const { status, error } = await post(server, body)
      t.match({ status, ...error }, { status: 400, code: 'invalid_request', param }, what)
      t.match(error!.message, /reads text only/)
    }
    for (const what of formNames) {
      await refused(what, bodyOf(what), inState[what]![1] === undefined ? 'state.photo' : 'assets')
    }
    for (const [what, rest] of Object.entries(beside)) {
      await refused(what, asking({ state: 'x', ...rest }), Object.keys(rest)[0]!)
    }
    t.equal(server.engine.asked, 0)
  }),
)
