/**
 * Models pulled from a server that cuts, lies, changes its files, is slow or refuses. In this
 * process, with random bytes for a model; no addon.
 */
import t, { type Test } from 'tap'
import { writeFileSync } from 'node:fs'
import type { PullOptions } from '../../src/models/pull/pull.js'
import { digestOf, type HubServer } from '../helpers/hub-server.js'
import { Puller, someBytes } from '../helpers/pull.js'

type Trouble = HubServer['trouble']

/** Of every second range. */
const everySecond =
  (trouble: ReturnType<Trouble>): Trouble =>
  ({ number, range }) =>
    range && range[1] > 0 && number % 2 === 0 ? trouble : undefined

/** A pull of which only the first range has come; the server has no trouble any more. */
async function begunPull(t: Test, first?: ReturnType<Trouble>) {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  const url = hub.serve('/m.gguf', bytes)
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : first)
  await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL', message: /404/ })
  hub.trouble = () => undefined
  const before = hub.transfers.length
  return { hub, puller, url, bytes, later: () => hub.transfers.slice(before) }
}

t.test('a file is fetched by several ranges at once', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(4)
  const { model, unchanged } = await puller.pull(hub.serve('/x/m.gguf', bytes))
  t.equal(unchanged, false)
  t.match(model, { name: 'm', source: `${hub.origin}/x/m.gguf`, model: 'm.gguf', projector: '' })
  t.match(model.files, [{ name: 'm.gguf', bytes: bytes.length, sha256: digestOf(bytes) }])
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.equal(hub.transfers.length, 5)
  t.strictSame(puller.notes, [])
})

const old = someBytes(3)

for (const [title, trouble, says, options = {}] of [
  [
    'a pull that is cut 20 times ends with the right bytes',
    ({ number, range }) =>
      range && range[1] > 0 && number < 20 ? { cutAfter: 100_000 + number } : undefined,
    /^(?:.+\n){19}.+$/,
  ],
  [
    'a file that changes between its ranges is fetched from the beginning',
    ({ number }) => (number < 2 ? { bytes: old } : undefined),
    /its version was .*, and now is .*; beginning anew/,
    { connections: 1 },
  ],
  [
    'from a server that sends no ranges any more, the file is read in one piece',
    ({ range }) => (range && range[0] > 0 ? { ignoresRange: true } : undefined),
    /sends no ranges any more; beginning anew/,
  ],
  [
    'a server that ignores some ranges is asked again',
    everySecond({ ignoresRange: true }),
    /^.*sent other bytes than it was asked for/,
  ],
  [
    'a server that sends another range than it was asked for is not believed',
    everySecond({ shift: 10 }),
    /./,
  ],
  [
    'a server that sends more bytes than it announced is not believed',
    everySecond({ extra: Buffer.alloc(100) }),
    /./,
  ],
  [
    'a server that falls silent is asked again',
    ({ number, range }) =>
      range && range[1] > 0 && number === 1 ? { silentAfter: 1000 } : undefined,
    /has fallen silent/,
    { silenceMs: 200 },
  ],
] as const satisfies readonly (readonly [string, Trouble, RegExp, Partial<PullOptions>?])[]) {
  t.test(title, async (t) => {
    const { hub, puller } = await Puller.start(t)
    const bytes = someBytes(3)
    hub.trouble = trouble
    await puller.gets(hub.serve('/m.gguf', bytes), bytes, options)
    t.match(puller.notes.join('\n'), says)
  })
}

t.test('bytes that are there already are not requested again', async (t) => {
  const { puller, url, bytes, later } = await begunPull(t)
  await puller.pull(url)
  t.ok(later().every(({ range }) => range![0] >= 1 << 20))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})

t.test('a file that changes between two pulls is fetched from the beginning', async (t) => {
  const { hub, puller, url } = await begunPull(t)
  const bytes = someBytes(3)
  hub.serve('/m.gguf', bytes)
  await puller.gets(url, bytes)
})

t.test('a rest of another version under the same ETag has the wrong SHA-256', async (t) => {
  const etag = '"same"'
  const { hub, puller, url } = await begunPull(t, { etag })
  const bytes = someBytes(3)
  hub.trouble = () => ({ etag })
  hub.serve('/m.gguf', bytes)
  await puller.gets(url, bytes, { sha256: digestOf(bytes) })
})

t.test('without a version, nothing is put together from two pulls', async (t) => {
  const { hub, puller, url, bytes, later } = await begunPull(t, { etag: '' })
  hub.trouble = () => ({ etag: '' })
  await puller.pull(url)
  t.ok(later().some(({ range }) => range![0] === 0))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})

t.test('without support for ranges, a file is read from the beginning', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  let whole = 0
  hub.trouble = ({ range }) => {
    if (range === undefined) whole++
    return { ignoresRange: true, ...(whole === 1 && range === undefined && { cutAfter: 50_000 }) }
  }
  await puller.gets(hub.serve('/m.gguf', bytes), bytes)
  t.equal(whole, 2, 'cut once, and read again')
})

for (const status of [408, 429, 500, 502, 503, 504]) {
  t.test(`the status ${status} is retried after the server's wait`, async (t) => {
    const { hub, puller } = await Puller.start(t)
    const bytes = someBytes(1)
    let refusals = 0
    hub.trouble = () => (refusals++ === 0 ? { status, headers: { 'retry-after': '1' } } : undefined)
    const startMs = performance.now()
    await puller.pull(hub.serve('/m.gguf', bytes))
    t.ok(performance.now() - startMs > 950)
    t.ok(puller.read('m', 'm.gguf').equals(bytes))
  })
}

t.test('a server that never recovers is given up, and fetched bytes stay', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  const url = hub.serve('/m.gguf', bytes)
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 503 } : undefined)
  await t.rejects(puller.pull(url, { connections: 1 }), {
    code: 'ERR_PULL',
    message: /answered 503; given up after 9 failures in a row$/,
  })
  puller.nothingNamed()
  hub.trouble = () => undefined
  const before = hub.transfers.length
  await puller.pull(url)
  t.ok(hub.transfers.slice(before).every(({ range }) => range![0] > 0))
})

for (const [status, message] of Object.entries({
  401: /answered 401: it needs a token \(HF_TOKEN or --token-file\), or there is nothing/,
  403: /answered 403: it needs a token/,
  404: /answered 404: there is nothing of this name, or it is private/,
  410: /answered 410$/,
})) {
  t.test(`the status ${status} is an answer, and is not retried`, async (t) => {
    const { hub, puller } = await Puller.start(t)
    hub.trouble = () => ({ status: Number(status) })
    await t.rejects(puller.pull(`${hub.origin}/m.gguf`), { code: 'ERR_PULL', message })
    t.equal(hub.asked.length, 1)
    puller.nothingNamed()
  })
}

for (const [title, bytes, trouble, message] of [
  [
    'a file that changes at each range is given up',
    old,
    ({ number }) => ({ etag: `"${number}"` }),
    /changes while it is read/,
  ],
  [
    'a changed length is another file',
    old,
    ({ range }) => (range && range[0] > 0 ? { total: 99_999_999 } : undefined),
    /it had \d+ bytes, and now has 99999999/,
  ],
  [
    'a body in a content coding is refused',
    old,
    () => ({ headers: { 'content-encoding': 'gzip' } }),
    /is sent with the content coding gzip/,
  ],
  ['an empty file is not a model', Buffer.alloc(0), () => undefined, /m\.gguf is empty$/],
] as const satisfies readonly (readonly [string, Buffer, Trouble, RegExp])[]) {
  t.test(title, async (t) => {
    const { hub, puller } = await Puller.start(t)
    hub.trouble = trouble
    const url = hub.serve('/m.gguf', bytes)
    await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL', message })
    puller.nothingNamed()
  })
}

t.test('a wrong SHA-256 is reported, and nothing is kept', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', someBytes(2))
  const sha256 = '0'.repeat(64)
  await t.rejects(puller.pull(url, { sha256 }), {
    code: 'ERR_PULL',
    message: new RegExp(`its SHA-256 is [0-9a-f]{64}, expected ${sha256}$`),
  })
  puller.nothingNamed()
  t.throws(() => puller.read('.pull', 'm', 'm.gguf.part'), { code: 'ENOENT' })
})

t.test('a damaged state file costs the bytes that were there, and nothing else', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(2)
  const url = hub.serve('/m.gguf', bytes)
  for (const text of ['', '{', '[]', '{"version":{"bytes":1},"spans":[[0,9]]}', 'null']) {
    hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : undefined)
    await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL' })
    writeFileSync(puller.path('.pull', 'm', 'm.gguf.part.json'), text)
  }
  hub.trouble = () => undefined
  await puller.gets(url, bytes)
})
