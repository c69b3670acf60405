/**
 * Compressed replies: the requested coding, and the same text in it, on both transports.
 */
import t from 'tap'
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import type { Decider } from '../../src/decide/types.js'
import { openAdmission } from '../../src/http/access/admission.js'
import { replyCodings } from '../../src/http/reply/reply-coding.js'
import { batchPath, linesType } from '../helpers/asking.js'
import { numbers, readLines, requestsAbout, settled } from '../helpers/batch.js'
import { replyDecoders } from '../helpers/compressed.js'
import { decision, stubDecider, type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const single = '/v1/systemone'
const question = JSON.stringify(requestsAbout([1]).requests[0])

const names = replyCodings.map(({ name }) => name)

/** Hardly compressible. */
const noise = (length: number) => randomBytes(length / 2).toString('hex')

/** The model's name makes a reply as long as necessary. */
const lasting = (length: number) => {
  const decided = { ...decision, model: noise(length) }
  return stubDecider(async () => decided)
}

interface Asked {
  readonly path?: string
  readonly method?: string
  readonly accepts?: string
  readonly accept?: string
  readonly body?: string
}

/** The raw body: node:http decodes nothing. */
function open({ url, key }: StubServer, asked: Asked): Promise<IncomingMessage> {
  const { path = single, method = 'POST', accepts, accept, body = question } = asked
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(accepts !== undefined && { 'accept-encoding': accepts }),
    ...(accept !== undefined && { accept }),
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url + path, { method, headers, agent: false }, resolve)
    sent.once('error', reject)
    sent.end(method === 'POST' ? body : undefined)
  })
}

async function ask(server: StubServer, asked: Asked) {
  const reply = await open(server, asked)
  const parts: Buffer[] = []
  for await (const part of reply) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  const { 'content-encoding': coding, 'content-length': length, vary } = reply.headers
  const text = Buffer.from(coding === undefined ? bytes : replyDecoders[coding]!(bytes)).toString()
  return { status: reply.statusCode, coding, length, vary, bytes, text, headers: reply.headers }
}

for (const transport of ['auto', 'node'] as const) {
  t.test(`each coding holds the same text, transport ${transport}`, async (t) => {
    for (const length of [3000, 200_000]) {
      await withServer({ decider: lasting(length), transport }, async (server) => {
        const plain = await ask(server, {})
        t.equal(plain.coding, undefined)
        t.equal(plain.vary, 'accept-encoding', 'a cache must not give it to everybody')
        for (const accepts of names) {
          const reply = await ask(server, { accepts })
          t.equal(reply.status, 200)
          t.equal(reply.coding, accepts)
          t.equal(reply.vary, 'accept-encoding')
          t.equal(Number(reply.length), reply.bytes.length)
          t.ok(reply.bytes.length < plain.bytes.length)
          t.ok(reply.text === plain.text, `${accepts}, ${length} bytes`)
        }
        const body = JSON.stringify(requestsAbout(numbers(9)))
        const batch = await ask(server, { path: batchPath, accepts: 'gzip', body })
        t.equal(batch.coding, 'gzip')
        t.equal((JSON.parse(batch.text) as { results: unknown[] }).results.length, 9)
        const logged = server.log.map((line) => (JSON.parse(line) as { status: number }).status)
        t.strictSame(logged, Array(logged.length).fill(200))
        t.equal(server.handlers.running.size, 0)
      })
    }
  })

  t.test(`short replies are plain unless that is refused, transport ${transport}`, (t) =>
    withServer({ transport }, async (server) => {
      const plain = await ask(server, { accepts: 'gzip, br' })
      t.equal(plain.coding, undefined)
      t.equal(plain.vary, undefined)
      for (const accepts of ['gzip, identity;q=0', 'gzip, *;q=0']) {
        const reply = await ask(server, { accepts })
        t.equal(reply.coding, 'gzip', accepts)
        t.equal(reply.vary, 'accept-encoding')
        t.equal(reply.text, plain.text)
      }
      // No coding is acceptable: a plain answer is better than none.
      t.equal((await ask(server, { accepts: 'identity;q=0' })).text, plain.text)
      const refused = await ask(server, { accepts: 'gzip, identity;q=0', body: '{' })
      t.equal(refused.status, 422)
      t.equal(refused.coding, 'gzip')
      t.match(JSON.parse(refused.text), { error: { code: 'invalid_request' } })
    }),
  )

  t.test(`HEAD has the headers of GET, and 204 has no coding, transport ${transport}`, (t) =>
    withServer({ transport }, async (server) => {
      const asked = { path: '/openapi.json', accepts: 'br' }
      const get = await ask(server, { ...asked, method: 'GET' })
      t.equal(get.coding, 'br')
      t.match(JSON.parse(get.text), { openapi: /^3/ })
      const head = await open(server, { ...asked, method: 'HEAD' })
      head.resume()
      t.match(head.headers, { 'content-encoding': 'br', vary: 'accept-encoding' })
      t.equal(head.headers['content-length'], get.length)
      const none = await ask(server, {
        ...{ path: '/', method: 'OPTIONS', accepts: 'gzip, identity;q=0' },
      })
      t.equal(none.status, 204)
      t.equal(none.coding, undefined)
    }),
  )

  t.test(`each line of a stream can be read as it arrives, transport ${transport}`, async (t) => {
    const ends: (() => void)[] = []
    const decider = stubDecider(() => new Promise((resolve) => ends.push(() => resolve(decision))))
    await withServer({ decider, transport }, async (server) => {
      const streams: [string, () => Transform][] = [
        ['gzip', createGunzip],
        ['br', createBrotliDecompress],
      ]
      for (const [accepts, create] of streams) {
        const body = JSON.stringify(requestsAbout(numbers(3)))
        const opened = open(server, { path: batchPath, accepts, accept: linesType, body })
        await until(() => ends.length === 3)
        // The head comes with the first line.
        ends.shift()!()
        const reply = await opened
        t.equal(reply.headers['content-encoding'], accepts)
        t.equal(reply.headers['vary'], 'accept-encoding')
        let text = ''
        let ended = false
        const decoded = reply.pipe(create())
        decoded.on('data', (part: Buffer) => (text += part.toString()))
        decoded.on('end', () => (ended = true))
        const count = () => text.split('\n').length - 1
        await until(() => count() > 0)
        t.equal(count(), 1)
        ends.shift()!()
        await until(() => count() > 1)
        t.equal(count(), 2)
        ends.shift()!()
        await until(() => ended)
        const { results, totals } = readLines(text)
        t.equal(results.length, 3)
        t.equal(totals.usage['input_tokens'], 36)
      }
    })
  })

  for (const accepts of ['identity', 'gzip']) {
    t.test(
      `a client that does not read stops a stream, ${accepts}, transport ${transport}`,
      async (t) => {
        let asked = 0
        const model = noise(120_000)
        const decider = stubDecider(async () => {
          asked++
          return { ...decision, model }
        })
        await withServer({ decider, transport }, async (server) => {
          const body = JSON.stringify(requestsAbout(numbers(256)))
          const lines = { path: batchPath, accepts, accept: linesType, body }
          const left = await open(server, lines)
          await settled(() => asked)
          left.destroy()
          await until(() => server.handlers.running.size === 0)
          const begun = asked
          t.ok(begun < 256, `${begun} of 256 were begun`)
          t.match(JSON.parse(server.log.at(-1)!), { path: batchPath, status: 0 })
          t.equal(await settled(() => asked), begun, 'and no others begin')

          asked = 0
          const read = await open(server, lines)
          await settled(() => asked)
          const decoded = accepts === 'gzip' ? read.pipe(createGunzip()) : read
          let text = ''
          for await (const part of decoded) text += (part as Buffer).toString()
          t.equal(readLines(text).results.length, 256)
          t.equal(asked, 256)
        })
      },
    )
  }

  t.test(
    `a client that leaves while its reply is compressed, transport ${transport}`,
    async (t) => {
      let booked = 0
      const decided = { ...decision, model: noise(4_000_000) }
      const decider = stubDecider(async () => decided)
      let leave = () => {}
      const book = () => {
        booked++
        // The event loop sees its departure while threads compress.
        setImmediate(() => leave())
        return undefined
      }
      await withServer(
        { decider, transport, admission: { ...openAdmission, book } },
        async (server) => {
          const sent = httpRequest(server.url + single, {
            method: 'POST',
            headers: { authorization: `Bearer ${server.key}`, 'accept-encoding': 'gzip' },
          })
          sent.on('error', () => {})
          leave = () => sent.socket!.resetAndDestroy()
          sent.end(question)
          await until(() => booked === 1 && server.handlers.running.size === 0)
          t.match(JSON.parse(server.log.at(-1)!), { path: single, status: 0 })
          t.equal(booked, 1)
          leave = () => {}
          t.equal((await ask(server, { accepts: 'gzip' })).status, 200)
        },
      )
    },
  )
}

for (const transport of ['auto', 'node'] as const) {
  t.test(`the end of the server waits for a reply in compression, ${transport}`, async (t) => {
    const long = noise(4_000_000)
    const answering = stubDecider(async () => ({ ...decision, model: long }))
    const [card] = answering.models
    let listed = 0
    const decider: Decider = {
      ...answering,
      get models() {
        listed++
        return [{ ...card!, description: long }]
      },
    }
    for (const asked of [{}, { path: '/v1/models', method: 'GET' }]) {
      await withServer({ decider, transport }, async (server) => {
        listed = 0
        const reply = ask(server, { ...asked, accepts: 'gzip' })
        await until(() => server.handlers.running.size + listed > 0)
        await Promise.all([server.server.close(10_000), reply])
        t.equal((await reply).status, 200)
        t.ok((await reply).text.includes(long))
        t.equal(server.server.leaving, 0)
      })
    }
  })
}
