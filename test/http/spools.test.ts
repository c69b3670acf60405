/**
 * The accounts cannot be written, and the server is killed in that time: answers without a balance
 * are in spools by then, but for those of the last second, and are booked once.
 */
import t, { type Test } from 'tap'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { oi, RunningCommand } from '../helpers/command.js'
import { lock } from '../helpers/store-faults.js'
import { firstKey } from '../helpers/data-folder.js'
import { get, post } from '../helpers/asking.js'

interface Place {
  readonly dataDir: string
  /** Where spools are. */
  readonly state: string
  readonly secret: string
}

function place(t: Test, price: number): Place {
  const folder = t.testdir()
  const [dataDir, state] = [join(folder, 'data'), join(folder, 'state')]
  mkdirSync(state)
  const { secret } = firstKey(dataDir, ({ prices }) => prices.set('stub', { input: price }))
  return { dataDir, state, secret }
}

async function serve(t: Test, { dataDir, state }: Place) {
  const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', dataDir]
  const server = new RunningCommand(args, 'instant', { XDG_STATE_HOME: state })
  t.teardown(() => server.process.kill('SIGKILL'))
  const [, url] = await server.match(/Listening on (http:\S+)/)
  await server.match(/^Ready$/m)
  return { server, url: url! }
}

/** Asks for `ms`. @returns When each answer came. */
async function askFor(ms: number, url: string, secret: string): Promise<number[]> {
  const times: number[] = []
  for (const endMs = performance.now() + ms; performance.now() < endMs;) {
    const reply = await post({ url, key: secret })
    await reply.text()
    if (reply.status !== 200) throw new Error(`status ${reply.status}`)
    times.push(performance.now())
    await sleep(15)
  }
  return times
}

const spoolsIn = (state: string) =>
  readdirSync(state, { recursive: true }).filter((name) => String(name).endsWith('.jsonl'))

async function awayFrom(dataDir: string) {
  renameSync(dataDir, `${dataDir}.away`)
  return () => renameSync(`${dataDir}.away`, dataDir)
}

for (const [fault, begin] of [
  ['the data folder is gone', awayFrom],
  ['another process holds the lock', lock],
] as const) {
  for (const price of [0, 1_000_000]) {
    t.test(
      `${fault}, price ${price}: kill -9 costs a second at most, and books none twice`,
      async (t) => {
        const at = place(t, price)
        const first = await serve(t, at)
        const before = await askFor(200, first.url, at.secret)
        const end = await begin(at.dataDir)
        const during = await askFor(2500, first.url, at.secret)
        const killedMs = performance.now()
        first.server.process.kill('SIGKILL')
        await first.server.exited
        end()
        t.ok(spoolsIn(at.state).length > 0)

        const answers = before.length + during.length
        const safe = before.length + during.filter((ms) => ms < killedMs - 1000).length
        const second = await serve(t, at)
        await second.server.match(/The usage of \d+ answers has been taken in/)
        const seen = audit(at.dataDir)
        t.ok(
          seen.usedRequests >= safe && seen.usedRequests <= answers,
          `${safe}, ${seen.usedRequests}, ${answers}`,
        )
        t.ok(price === 0 || isBalanced(seen), JSON.stringify(seen))
        t.strictSame(spoolsIn(at.state), [])
        second.server.process.kill('SIGTERM')
        await second.server.exited
        const third = await serve(t, at)
        await sleep(300)
        t.equal(audit(at.dataDir).usedRequests, seen.usedRequests, 'none twice')
        third.server.process.kill('SIGTERM')
        t.equal(await third.server.exited, 0)
      },
    )
  }
}

t.test('a failure that ends is booked whole, once, and usage counts it meanwhile', async (t) => {
  const at = place(t, 1_000_000)
  const { server, url } = await serve(t, at)
  const before = await askFor(100, url, at.secret)
  const end = await lock(at.dataDir)
  const during = await askFor(2000, url, at.secret)
  t.ok(spoolsIn(at.state).length > 0)
  const usage = async () => {
    const reply = await get({ url, key: at.secret }, '/v1/usage')
    return ((await reply.json()) as { usage: { requests: number }[] }).usage[0]!.requests
  }
  const answers = before.length + during.length
  t.equal(await usage(), answers, 'with what is in spools')
  end()
  await server.match(/The usage of \d+ answers has been taken in/)
  t.equal(await usage(), answers)
  server.process.kill('SIGTERM')
  t.equal(await server.exited, 0)
  t.equal(audit(at.dataDir).usedRequests, answers)
  t.strictSame(spoolsIn(at.state), [])
})

t.test('a damaged file is refused at the start, in a sentence that says what to do', async (t) => {
  const at = place(t, 0)
  const accounts = new Accounts({ dataDir: at.dataDir })
  for (let i = 0; i < 300; i++) accounts.createKey('default', `key ${i}`)
  accounts.close()
  const path = join(at.dataDir, 'accounts.db')
  const copy = join(at.state, 'copy.db')
  copyFileSync(path, copy)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, statSync(path).size - 8192)
  closeSync(file)
  const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', at.dataDir]
  const server = new RunningCommand(args, 'instant', { XDG_STATE_HOME: at.state })
  t.teardown(() => server.process.kill('SIGKILL'))
  t.not(await server.exited, 0)
  t.match(server.stderr, /accounts\.db: the file is damaged .*; oi admin restore <file> puts/)
  const restored = await oi(['admin', 'restore', copy, '--data', at.dataDir])
  t.equal(restored.code, 0, restored.stderr)
  await serve(t, at)
})
