/**
 * The fuzzer: it finds faults; and a short run of it.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Cases } from '../../scripts/fuzz/cases.js'
import { fuzz } from '../../scripts/fuzz/fuzz.js'
import { ReplyReader } from '../../scripts/reply-reader.js'
import { givenTarget, startTarget } from '../../scripts/fuzz/target.js'
import { vacantPort } from '../helpers/vacant-port.js'

const script = fileURLToPath(new URL('../../scripts/fuzz/main.js', import.meta.url))

t.test('2,000 requests leave the server unchanged', async (t) => {
  await using target = await startTarget()
  const options = { seed: 7, from: 0, requests: 2000, connections: 8 }
  const { requests, failures, statuses } = await fuzz(target, options)
  t.strictSame(
    failures.map(({ index, wrong }) => `${index}: ${wrong}`),
    [],
  )
  t.equal(requests, 2000)
  for (const status of [200, 400, 401, 404, 405, 422]) {
    t.ok((statuses.get(status) ?? 0) > 0, `${status} is among the replies`)
  }
})

t.test(
  '1,000 bodies that are compressed, in parts, or with images leave it unchanged',
  async (t) => {
    await using target = await startTarget()
    const options = { seed: 7, from: 0, requests: 1000, connections: 8, forms: true }
    const { failures, statuses } = await fuzz(target, options)
    t.strictSame(
      failures.map(({ index, wrong }) => `${index}: ${wrong}`),
      [],
    )
    for (const status of [200, 400, 413, 415, 422]) {
      t.ok((statuses.get(status) ?? 0) > 0, `${status} is among the replies`)
    }
  },
)

t.test('the same seed makes the same cases, another seed others', async (t) => {
  const bytesOf = (seed: number) => {
    const cases = new Cases(seed, 'oi-key')
    return Array.from({ length: 300 }, (_, i) =>
      Buffer.concat(cases.at(i).parts).toString('latin1'),
    )
  }
  const first = bytesOf(1)
  t.strictSame(bytesOf(1), first)
  const [a, b] = [new Set(first), new Set(bytesOf(2))]
  t.ok(a.size > 250, 'cases differ from each other')
  t.ok([...b].filter((bytes) => a.has(bytes)).length < 50, 'and from those of another seed')
})

/** Runs the fuzzer against a server of node:http, or against none. */
async function fuzzAgainst(listener: RequestListener | undefined) {
  const against = (port: number) => {
    const target = givenTarget(new URL(`http://127.0.0.1:${port}`), 'oi-key')
    return fuzz(target, { seed: 1, from: 0, requests: 200, connections: 2 })
  }
  if (listener === undefined) return against(await vacantPort())
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await against((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Sends a reply with all headers. */
function send(response: ServerResponse, status: number, body: string): void {
  const { 'x-request-id': sent } = response.req.headers
  const id = typeof sent === 'string' && /^[\w.-]{1,128}$/.test(sent) ? sent : 'made'
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    'x-typesafe-request-id': id,
    'server-timing': 'total;dur=1.00',
  })
  response.end(body)
}

const answer = (noul: number) =>
  `{"model":"m","answers":{"7":{"type":"noul","noul":${noul}},"team":{"type":"choice"},"size":{"type":"score"}},"usage":{}}`
let asked = 0

for (const [what, listener, says] of [
  ['fails', (_, response) => send(response, 500, '{}'), /^status 500/],
  [
    'has another shape for errors',
    (_, response) => send(response, 422, '{"error":"no"}'),
    /^an error of another shape/,
  ],
  [
    'does not give request ids back',
    (_, response) => response.end('{}'),
    /^x-request-id: undefined/,
  ],
  ['answers no JSON', (_, response) => send(response, 200, 'yes'), /^200 with yes/],
  [
    'does not compress what it calls compressed',
    (_, response) => {
      response.setHeader('content-encoding', 'gzip')
      send(response, 200, '{}')
    },
    /^200 that cannot be decoded/,
  ],
  [
    'closes connections',
    (request) => request.socket.destroy(),
    /^the connection was closed without a reply/,
  ],
  [
    'speaks no HTTP',
    (request) => request.socket.end('hello\r\n\r\n'),
    /^no HTTP: the status line "hello"/,
  ],
  [
    'changes its answers',
    (_, response) => send(response, 200, answer(asked++ / 10)),
    /a right request got another answer/,
  ],
  ['is not there', undefined, /^the server is gone: .*ECONNREFUSED/],
] as const satisfies readonly (readonly [string, RequestListener | undefined, RegExp])[]) {
  t.test(`a server that ${what} is detected`, async (t) => {
    const { failures } = await fuzzAgainst(listener)
    t.ok(
      failures.some(({ wrong }) => says.test(wrong)),
      failures.map(({ wrong }) => wrong).join('\n'),
    )
    t.ok(failures.every(({ bytes }) => bytes.length > 0))
  })
}

t.test('replies are read however they are cut', async (t) => {
  const stream = Buffer.from(
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc' +
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n' +
      'HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\nthe end',
  )
  for (const step of [1, 2, 7, stream.length]) {
    const reader = new ReplyReader()
    const read: string[] = []
    const take = (ended: boolean) => {
      for (let reply; (reply = reader.next(false, ended)) !== undefined;) {
        read.push(`${reply.status} ${reply.body.toString()}`)
      }
    }
    for (let at = 0; at < stream.length; at += step) {
      reader.push(stream.subarray(at, at + step))
      take(false)
    }
    take(true)
    t.strictSame(read, ['200 abc', '200 def', '404 the end'], `steps of ${step}`)
    t.equal(reader.pending, 0)
  }
})

t.test('bytes that are not HTTP are refused', async (t) => {
  for (const [text, says] of [
    ['HTTP/1.0 200 OK\r\n\r\n', /status line/],
    ['HTTP/1.1 2000 OK\r\n\r\n', /status line/],
    ['HTTP/1.1 200 OK\r\nno colon\r\n\r\n', /header "no colon"/],
    ['HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', /content-length: -1/],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n', /size x/],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabcdef\r\n', /longer/],
  ] as const) {
    const reader = new ReplyReader()
    reader.push(Buffer.from(text))
    t.throws(() => reader.next(false, false), { message: says }, text)
  }
})

t.test('a failed case is written to a file, and the command ends with 1', async (t) => {
  const url = `http://127.0.0.1:${await vacantPort()}`
  const out = t.testdir()
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  const args = ['--url', url, '--key', 'oi-key', '--seed', '3', '--from', '5', '--requests', '1']
  const { status, stdout } = run(...args, '--out', out)
  t.equal(status, 1, stdout)
  t.match(stdout, /5: the server is gone.*\n.*again with --seed 3 --from 5 --requests 1/)
  t.strictSame(readdirSync(out), ['failure-3-5.bin'])
  const bytes = Buffer.concat(new Cases(3, 'oi-key').at(5).parts)
  t.ok(bytes.equals(readFileSync(join(out, 'failure-3-5.bin'))))

  for (const [wrong, says] of [
    [['--requests', '0'], /--requests: expected a whole number from 1 on/],
    [['--url', 'nowhere'], /--url: expected/],
    [['--url', url, '--key', ''], /--key: expected/],
    [['--seeds', '1'], /--seeds/],
  ] as const) {
    const { status, stderr } = run(...wrong)
    t.equal(status, 2, stderr)
    t.match(stderr, says)
  }
})
