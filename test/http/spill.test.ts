/**
 * While the accounts cannot be written, answers without a balance go to a spool within a second: a
 * kill loses no more than the last second, and nothing is booked twice.
 */
import t from 'tap'
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { withLimits } from '../helpers/limited.js'
import { ServerProcess } from '../helpers/server-process.js'
import { lock } from '../helpers/store-faults.js'
import { until } from '../helpers/until.js'

// Machines may be busy, and a start takes its time.
t.setTimeout(180_000)

const spoolsIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('oi-accounts-'))

for (const fault of ['the folder is moved away', 'the file is locked'] as const) {
  t.test(`${fault}: killed, and nothing older than a second is lost`, async (t) => {
    const folder = t.testdir()
    const [dataDir, away, state] = ['data', 'away', 'state'].map((name) => join(folder, name))
    mkdirSync(dataDir!)
    const spools = join(state!, 'oi')
    const environment = { XDG_STATE_HOME: state! }
    const first = new Accounts({ dataDir: dataDir! })
    const { secret } = first.createFirstKey()!
    first.close()
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const ask = async (server: ServerProcess) => {
      const url = server.url('/v1/systemone')
      const reply = await fetch(url, { method: 'POST', body: '{}', headers })
      await reply.text()
      return reply.status
    }
    const server = await ServerProcess.start(t, { dataDir: dataDir!, environment })
    t.equal(await ask(server), 200)
    await sleep(500)
    let end = () => {}
    if (fault === 'the file is locked') end = await lock(dataDir!)
    else renameSync(dataDir!, away!)
    let answered = 1
    for (let i = 0; i < 20; i++) {
      if ((await ask(server)) === 200) answered++
      await sleep(50)
    }
    t.equal(answered, 21, 'the server goes on')
    const before = spoolsIn(spools).length
    await until(() => spoolsIn(spools).length > before)
    await sleep(1500)
    await server.stop('SIGKILL')
    if (fault === 'the file is locked') end()
    else renameSync(away!, dataDir!)

    const again = await ServerProcess.start(t, { dataDir: dataDir!, environment })
    await until(() => spoolsIn(spools).length === 0)
    await again.stop()
    const accounts = new Accounts({ dataDir: dataDir! })
    const { usage } = accounts.usage('default')
    t.equal(usage[0]!.requests, answered, 'all are booked, once')
    t.notOk(accounts.check().faults.length)
    accounts.close()
  })
}

t.test('once the file is back, spools are taken in while the server runs', async (t) => {
  const before = process.env['XDG_STATE_HOME']
  const state = t.testdir()
  process.env['XDG_STATE_HOME'] = state
  t.teardown(() => {
    if (before === undefined) delete process.env['XDG_STATE_HOME']
    else process.env['XDG_STATE_HOME'] = before
  })
  await withLimits({ requestsPerMinute: 0 }, {}, async ({ accounts, dataDir, post }) => {
    t.equal((await post()).status, 200)
    accounts.ledger.flush()
    const file = join(dataDir, 'accounts.db')
    renameSync(file, `${file}-away`)
    for (let i = 0; i < 10; i++) t.equal((await post()).status, 200)
    await until(() => accounts.ledger.pendingAnswers === 0)
    t.ok(spoolsIn(join(state, 'oi')).length > 0)
    renameSync(`${file}-away`, file)
    await until(() => spoolsIn(join(state, 'oi')).length === 0)
    await until(() => accounts.trouble() === undefined)
    t.equal((await post()).status, 200)
    t.equal(accounts.usage('default').usage[0]!.requests, 12)
    t.notOk(accounts.check().faults.length)
  })
})
