/**
 * A runner and a front that break the protocol, or do not read; see src/runner/PROTOCOL.md.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkedOptions } from '../../src/engine/engine.js'
import { pack } from '../../src/engine/pack.js'
import {
  asks,
  countFrame,
  jsonFrame,
  openFrame,
  readCounted,
  readResult,
  replies,
  scoreFrame,
  signal,
} from '../../src/runner/messages.js'
import { fixturePath, input } from '../helpers/fixture.js'
import { frameOf, RawRunner } from '../helpers/raw-runner.js'

const modelPath = await fixturePath('small')
const options = { modelPath, contextTokens: 4096, threads: 1, deterministic: true }

/** A question in the form in which it is sent. */
const ask = (id: number) =>
  scoreFrame(id, { ...pack(input(20, 2)), workspace: 0, scope: '', deadlineMs: Infinity })

const text = (value: string) => {
  const bytes = Buffer.from(value, 'latin1')
  return Buffer.concat([number(bytes.length), bytes])
}
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const tokenize = (...fields: Buffer[]) => frameOf(asks.tokenize, 1, Buffer.concat(fields))

t.test('a front of another version is refused', async (t) => {
  await using runner = new RawRunner()
  runner.send(jsonFrame(asks.open, 0, { version: 1, options: await checkedOptions(options) }))
  t.match(await runner.ended, { code: 1, words: /version 1/ })
})

t.test('the first frame must open an engine', async (t) => {
  await using runner = new RawRunner()
  runner.send(ask(1))
  t.match(await runner.ended, { code: 1, words: /no kind of message 2/ })
})

t.test('a front that leaves before it has opened an engine leaves no runner', async (t) => {
  await using runner = new RawRunner()
  runner.send(openFrame(await checkedOptions(options)).subarray(0, 40))
  runner.stream.end()
  t.match(await runner.ended, { code: 1, words: /gone/ })
})

const shape = Buffer.from(Int32Array.of(5).buffer)
const score = Buffer.concat([
  ...[number(0), text(''), Buffer.alloc(8), number(1), text('a'), text('\u0000')],
  ...[number(shape.length), shape, number(0), number(0), number(0)],
])
const nonsense: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
  'a kind that is none': [signal(99), /no kind of message 99/],
  'a kind of replies': [signal(replies.result), /no kind of message 67/],
  'a second opening': [openFrame(await checkedOptions(options)), /no kind of message 1/],
  'a frame that is too long': [number(2 ** 29 + 1), /too long/],
  'a payload that ends too early': [frameOf(asks.count, 1, number(5)), /too early/],
  'a payload that goes on': [frameOf(asks.count, 1, Buffer.alloc(5)), /longer than its fields/],
  'bytes that are no text': [frameOf(asks.count, 1, text('\xff')), /not UTF-8/],
  'half a character': [frameOf(asks.count, 1, text('\xe2\x82')), /not UTF-8/],
  'a surrogate': [frameOf(asks.count, 1, text('\xed\xa0\x80')), /not UTF-8/],
  'an endless list': [tokenize(number(2 ** 32 - 1), text('a')), /too early/],
  'texts without kinds': [tokenize(number(1), text('a'), number(0)), /kind/],
  'a shape that does not fit': [frameOf(asks.score, 1, score), /shape does not fit/],
}
for (const [name, [bytes, reason]] of Object.entries(nonsense)) {
  t.test(`${name} ends the runner`, async (t) => {
    await using runner = new RawRunner()
    await runner.open(options)
    // Earlier frames may be answered or not; the rest of a head completes it.
    runner.send(ask(7), bytes, Buffer.alloc(12))
    t.match(await runner.ended, { code: 1, signal: null, words: reason })
  })
}

t.test('frames may come in any pieces', async (t) => {
  await using runner = new RawRunner()
  await runner.open(options)
  runner.send(ask(1))
  const expected = readResult((await runner.reply(1)).payload)
  const all = Buffer.concat([ask(2), countFrame(3, 'é🙂'), signal(asks.ping, 4), ask(5)])
  for (let at = 0; at < all.length; at += 7) {
    runner.send(all.subarray(at, at + 7))
    if (at % 70 === 0) await sleep(1)
  }
  for (const id of [2, 5]) {
    t.strictSame(readResult((await runner.reply(id)).payload).logits, expected.logits)
  }
  t.ok(readCounted((await runner.reply(3)).payload) > 0)
  t.equal((await runner.reply(4)).kind, replies.pong)
})

t.test('a ping is answered while the engine loads and while it works', async (t) => {
  await using runner = new RawRunner()
  runner.send(openFrame(await checkedOptions(options)), signal(asks.ping, 1))
  await runner.reply(0)
  const kinds = runner.frames.map(({ kind }) => kind)
  t.strictSame(kinds, [replies.pong, replies.opened], 'before it is open')
  const long = pack(input(3500, 1))
  runner.send(
    scoreFrame(2, { ...long, workspace: 0, scope: '', deadlineMs: Infinity }),
    signal(asks.ping, 3),
  )
  await runner.reply(2)
  t.equal(runner.frames.at(-2)!.id, 3, 'before the answer')
})

t.test('a front that does not read is asked for no more, and misses nothing', async (t) => {
  await using runner = new RawRunner()
  await runner.open(options)
  const before = memoryOf(runner.pid)
  runner.stream.pause()
  const pings = 400_000
  for (let id = 1; id <= pings;) {
    const some = Array.from({ length: 4000 }, () => signal(asks.ping, id++))
    runner.send(Buffer.concat(some))
  }
  const all = runner.stream.writableLength
  await sleep(2000)
  const unsent = runner.stream.writableLength
  t.ok(unsent > all / 2, `${unsent} of ${all} bytes are left with the front`)
  t.ok(memoryOf(runner.pid) - before < 16 * 2 ** 20, 'the runner keeps few of its replies')
  runner.stream.resume()
  await runner.reply(pings)
  const ids = runner.frames.slice(1).map(({ id }) => id)
  t.ok(ids.length === pings && ids.every((id, i) => id === i + 1), 'all of them, in order')
})

/** Resident bytes of a process that belong to no file. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return 1024 * Number(status.match(/^RssAnon:\s+(\d+)/m)![1])
}
