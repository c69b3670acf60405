/**
 * Models pulled from a server that cuts, lies, changes its files, is slow or refuses. In this
 * process, with random bytes for a model; no addon.
 */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { digestOf } from '../helpers/hub-server.js'
import { Puller, someBytes } from '../helpers/pull.js'

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

t.test('a pull that is cut 20 times ends with the right bytes', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(4)
  hub.trouble = ({ number, range }) =>
    range && range[1] > 0 && number < 20 ? { cutAfter: 100_000 + number } : undefined
  await puller.pull(hub.serve('/m.gguf', bytes))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.equal(puller.notes.length, 20)
})

t.test('a pull that is stopped 20 times, and run again, continues where it was', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(4)
  const url = hub.serve('/m.gguf', bytes)
  for (let i = 0; i < 20; i++) {
    const end = new AbortController()
    hub.trouble = ({ range }) => (range && range[1] > 0 ? { silentAfter: 60_000 } : undefined)
    const ended = puller.pull(url, {
      signal: end.signal,
      onProgress: (_, { fetchedBytes }) => fetchedBytes >= 60_000 && end.abort(),
    })
    await t.rejects(ended, { code: 'ERR_ABORTED' })
    puller.nothingNamed()
  }
  hub.trouble = () => undefined
  const before = hub.transfers.length
  await puller.pull(url)
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  const asked = hub.transfers.slice(before).map(({ range }) => range![1] - range![0] + 1)
  const left = asked.reduce((sum, size) => sum + size, 0)
  t.ok(left < bytes.length / 2, `${left} of ${bytes.length} bytes were left to the last one`)
})

t.test('bytes that are there already are not requested again', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  const url = hub.serve('/m.gguf', bytes)
  // One range arrives, all others fail until the pull gives up.
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : undefined)
  await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL', message: /404/ })
  hub.trouble = () => undefined
  const before = hub.transfers.length
  await puller.pull(url)
  t.ok(hub.transfers.slice(before).every(({ range }) => range![0] >= 1 << 20))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})

t.test('a file that changes between its ranges is fetched from the beginning', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const [old, bytes] = [someBytes(3), someBytes(3)]
  const url = hub.serve('/m.gguf', bytes)
  hub.trouble = ({ number }) => (number < 2 ? { bytes: old } : undefined)
  await puller.pull(url, { connections: 1 })
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.match(puller.notes.join('\n'), /its version was .*, and now is .*; beginning anew/)
})

t.test('a file that changes between two pulls is fetched from the beginning', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const [old, bytes] = [someBytes(3), someBytes(3)]
  const url = hub.serve('/m.gguf', old)
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : undefined)
  await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL' })
  hub.trouble = () => undefined
  hub.serve('/m.gguf', bytes)
  await puller.pull(url)
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})

t.test('a rest of another version under the same ETag has the wrong SHA-256', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const [old, bytes] = [someBytes(3), someBytes(3)]
  const url = hub.serve('/m.gguf', old)
  const etag = '"same"'
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : { etag })
  await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL' })
  hub.trouble = () => ({ etag })
  hub.serve('/m.gguf', bytes)
  await puller.pull(url, { sha256: digestOf(bytes) })
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})

t.test('a file that changes at each range is given up', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', someBytes(3))
  hub.trouble = ({ number }) => ({ etag: `"${number}"` })
  await t.rejects(puller.pull(url, { connections: 1 }), {
    code: 'ERR_PULL',
    message: /changes while it is read/,
  })
  puller.nothingNamed()
})

t.test('without a version, nothing is put together from two pulls', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  const url = hub.serve('/m.gguf', bytes)
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { status: 404 } : { etag: '' })
  await t.rejects(puller.pull(url, { connections: 1 }), { code: 'ERR_PULL' })
  hub.trouble = () => ({ etag: '' })
  const before = hub.transfers.length
  await puller.pull(url)
  t.ok(hub.transfers.slice(before).some(({ range }) => range![0] === 0))
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
  await puller.pull(hub.serve('/m.gguf', bytes))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.equal(whole, 2, 'cut once, and read again')
})

t.test('from a server that sends no ranges any more, the file is read in one piece', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { ignoresRange: true } : undefined)
  await puller.pull(hub.serve('/m.gguf', bytes))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.ok(puller.notes.some((note) => /sends no ranges any more; beginning anew/.test(note)))
})

t.test('a server that ignores some ranges is asked again', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(3)
  hub.trouble = ({ number, range }) =>
    range && range[1] > 0 && number % 2 === 0 ? { ignoresRange: true } : undefined
  await puller.pull(hub.serve('/m.gguf', bytes))
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.match(puller.notes[0], /sent other bytes than it was asked for/)
})

for (const [lie, trouble] of Object.entries({
  'another range than it was asked for': { shift: 10 },
  'more bytes than it announced': { extra: Buffer.alloc(100) },
})) {
  t.test(`a server that sends ${lie} is not believed`, async (t) => {
    const { hub, puller } = await Puller.start(t)
    const bytes = someBytes(3)
    hub.trouble = ({ number, range }) =>
      range && range[1] > 0 && number % 2 === 0 ? trouble : undefined
    await puller.pull(hub.serve('/m.gguf', bytes))
    t.ok(puller.read('m', 'm.gguf').equals(bytes))
    t.ok(puller.notes.length >= 1)
  })
}

t.test('a changed length is another file', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', someBytes(3))
  hub.trouble = ({ range }) => (range && range[0] > 0 ? { total: 99_999_999 } : undefined)
  await t.rejects(puller.pull(url, { connections: 1 }), {
    code: 'ERR_PULL',
    message: /it had \d+ bytes, and now has 99999999/,
  })
  puller.nothingNamed()
})

t.test('a server that falls silent is asked again', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(2)
  hub.trouble = ({ number, range }) =>
    range && range[1] > 0 && number === 1 ? { silentAfter: 1000 } : undefined
  await puller.pull(hub.serve('/m.gguf', bytes), { silenceMs: 200 })
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
  t.match(puller.notes.join('\n'), /has fallen silent/)
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

t.test('a body in a content coding is refused', async (t) => {
  const { hub, puller } = await Puller.start(t)
  hub.trouble = () => ({ headers: { 'content-encoding': 'gzip' } })
  const url = hub.serve('/m.gguf', someBytes(1))
  await t.rejects(puller.pull(url), {
    code: 'ERR_PULL',
    message: /is sent with the content coding gzip/,
  })
})

t.test('an empty file is not a model', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', Buffer.alloc(0))
  await t.rejects(puller.pull(url), { code: 'ERR_PULL', message: /m\.gguf is empty$/ })
})

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
  await puller.pull(url)
  t.ok(puller.read('m', 'm.gguf').equals(bytes))
})
