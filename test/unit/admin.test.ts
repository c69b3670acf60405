/** The admin socket: who may use it, which server has it, and the messages on it. */
import t, { type Test } from 'tap'
import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { askServer } from '../../src/admin/socket/client.js'
import type { Operations } from '../../src/admin/socket/operations.js'
import { AdminServer } from '../../src/admin/socket/server.js'
import { OiError } from '../../src/errors.js'
import { dataFolder } from '../helpers/data-folder.js'
import { until } from '../helpers/until.js'

const skip = process.platform === 'win32' && 'pipes of Windows are no files'

async function folder(t: Test): Promise<string> {
  const dataDir = dataFolder(t)
  await mkdir(dataDir)
  return dataDir
}

/** A server on a folder, closed at the test's end, and its notices. */
async function listen(t: Test, dataDir: string, operations: Operations = {}) {
  const notices: string[] = []
  const notice = (text: string) => notices.push(text)
  const server = await AdminServer.listen({ dataDir, operations, notice, lookMs: 20 })
  t.teardown(() => server.close())
  return { server, notices }
}

const who = (name: string): Operations => ({ who: () => Promise.resolve(name) })

t.test('an operation gets its input, reports progress, and answers', async (t) => {
  const dataDir = await folder(t)
  await listen(t, dataDir, {
    add: ({ a, b }, onProgress) => {
      onProgress('adding')
      return Promise.resolve({ sum: (a as number) + (b as number), text: 'é\n' })
    },
  })
  const told: string[] = []
  const answer = await askServer(dataDir, 'add', { a: 1, b: 2 }, (progress) => told.push(progress))
  t.strictSame(answer, { sum: 3, text: 'é\n' })
  t.strictSame(told, ['adding'])
})

t.test('an error keeps its code and its message', async (t) => {
  const dataDir = await folder(t)
  await listen(t, dataDir, {
    known: () => Promise.reject(new OiError('ERR_NOT_FOUND', 'There is none')),
    unknown: () => Promise.reject(new Error('a fault')),
  })
  await t.rejects(askServer(dataDir, 'known', {}), { code: 'ERR_NOT_FOUND', message: /none/ })
  await t.rejects(askServer(dataDir, 'unknown', {}), { code: 'ERR_ENGINE_INTERNAL' })
  await t.rejects(askServer(dataDir, 'toString', {}), { message: /one of known, unknown/ })
})

t.test('a line that is not a request is refused, and an endless line is cut off', async (t) => {
  const dataDir = await folder(t)
  await listen(t, dataDir, who('it'))
  for (const [sent, reply] of [
    ['nonsense\n', /expected a line with a JSON object/],
    ['[1]\n', /expected a line with a JSON object/],
    ['{"operation":"who"}\n{"operation":"who"}\n', /^\{"result":"it"\}\n$/],
    ['x'.repeat(3 << 20), /^$/],
  ] as const) {
    const socket = connect(join(dataDir, 'admin.sock')).on('error', () => {})
    socket.write(sent)
    t.match(await text(socket).catch(() => ''), reply)
  }
  t.equal(await askServer(dataDir, 'who', {}), 'it')
})

t.test('only its owner may use it', { skip }, async (t) => {
  const dataDir = await folder(t)
  await listen(t, dataDir)
  t.equal(statSync(join(dataDir, 'admin.sock')).mode & 0o777, 0o600)
})

t.test('without a server on the folder, a caller gets an error', async (t) => {
  const missing = { code: 'ERR_REMOTE', message: /^No server runs on the data folder/ }
  await t.rejects(askServer(await folder(t), 'who', {}), missing)
  await t.rejects(askServer(join(await folder(t), 'nowhere'), 'who', {}), missing)
})

t.test('a server that ends removes its socket, and tells waiting callers', { skip }, async (t) => {
  const dataDir = await folder(t)
  let asked = false
  const wait = () => new Promise(() => (asked = true))
  const { server } = await listen(t, dataDir, { wait })
  const answer = askServer(dataDir, 'wait', {})
  answer.catch(() => {})
  await until(() => asked)
  await server.close()
  await t.rejects(answer, { code: 'ERR_REMOTE' })
  t.notOk(existsSync(join(dataDir, 'admin.sock')))
})

t.test('the socket of a server that was killed is replaced', { skip }, async (t) => {
  const dataDir = await folder(t)
  const path = join(dataDir, 'admin.sock')
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', script])
  t.ok(existsSync(path))
  const { notices } = await listen(t, dataDir, who('new'))
  t.equal(await askServer(dataDir, 'who', {}), 'new')
  t.strictSame(notices, [])
})

t.test(
  'the first of two servers has the socket, and the second gets it when the first ends',
  async (t) => {
    const dataDir = await folder(t)
    const { server } = await listen(t, dataDir, who('first'))
    const { notices } = await listen(t, dataDir, who('second'))
    t.match(notices, [/Another server runs on this data folder/])
    t.equal(await askServer(dataDir, 'who', {}), 'first')
    await server.close()
    const answer = () => askServer(dataDir, 'who', {}).catch(() => undefined)
    let last: unknown
    while (last === undefined) last = await answer()
    t.equal(last, 'second')
    t.equal(notices.length, 1, 'and says it once')
  },
)

t.test('a file of that name is left alone, and a path may be too long', { skip }, async (t) => {
  const dataDir = await folder(t)
  writeFileSync(join(dataDir, 'admin.sock'), 'mine')
  t.match((await listen(t, dataDir)).notices, [/is not a socket/])
  t.ok(statSync(join(dataDir, 'admin.sock')).isFile())
})

t.test('a folder may have a longer path than a socket', async (t) => {
  const long = join(await folder(t), 'x'.repeat(120), 'y'.repeat(120))
  await t.rejects(askServer(long, 'who', {}), { code: 'ERR_REMOTE', message: /^No server runs on/ })
  await mkdir(long, { recursive: true })
  await t.rejects(askServer(long, 'who', {}), { code: 'ERR_REMOTE', message: /^No server runs on/ })
  const { server, notices } = await listen(t, long, who('first'))
  t.equal(await askServer(long, 'who', {}), 'first')
  t.match((await listen(t, long, who('second'))).notices, [
    /Another server runs on this data folder/,
  ])
  t.strictSame(notices, [])
  t.ok(statSync(join(long, 'admin.sock')).isSocket())
  await server.close()
  const asked = () => askServer(long, 'who', {}).catch(() => undefined)
  await until(async () => (await asked()) === 'second')
})
