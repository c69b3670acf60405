/** `oi admin backup`, `check` and `restore`: under load, over existing accounts, and refused. */
import t, { type Test } from 'tap'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { oi } from '../helpers/command.js'
import { dataFolder, firstKey } from '../helpers/data-folder.js'
import { ServerProcess } from '../helpers/server-process.js'
import { post } from '../helpers/asking.js'

/** A data folder whose workspace pays for its requests, and one of its keys. */
function paying(t: Test) {
  const dataDir = dataFolder(t)
  const { secret, id: keyId } = firstKey(dataDir, (accounts, workspaceId) => {
    accounts.terms.setLimits(workspaceId, { requestsPerMinute: 0 })
    accounts.credits.add(workspaceId, 1_000_000_000_000)
    accounts.prices.set('stub', { input: 1_000_000, output: 2_000_000 })
  })
  return { dataDir, secret, keyId }
}

t.test('copies made while a server books are whole, and can be restored', async (t) => {
  const { dataDir, secret } = paying(t)
  const server = await ServerProcess.start(t, { dataDir })
  let answered = 0
  let running = true
  const statuses = new Set<number>()
  const clients = Array.from({ length: 8 }, async () => {
    while (running) {
      const reply = await post({ url: server.url(''), key: secret })
      await reply.text()
      statuses.add(reply.status)
      answered++
    }
  })
  const copies: { path: string; atLeast: number; atMost: number }[] = []
  for (let i = 0; i < 5; i++) {
    await server.until(() => answered >= (i + 1) * 100)
    const atLeast = answered
    const { code, stdout, stderr } = await oi(['admin', 'backup', '--data', dataDir])
    t.equal(code, 0, stderr)
    copies.push({ path: stdout.trim(), atLeast, atMost: answered + clients.length })
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  running = false
  await Promise.all(clients)
  t.strictSame([...statuses], [200], 'no request was refused for a copy')
  t.equal(await server.stop(), 0)
  for (const { path, atLeast, atMost } of copies) {
    t.equal(statSync(path).mode & 0o777, 0o600)
    const other = dataFolder(t)
    t.match(await oi(['admin', 'restore', path, '--data', other]), { code: 0 })
    const found = audit(other)
    t.ok(isBalanced(found), JSON.stringify(found))
    t.ok(found.booked >= atLeast && found.booked <= atMost, `${atLeast} ≤ ${found.booked}`)
    t.equal(found.balance, 1_000_000_000_000 - found.booked * 18)
  }
  const folder = readdirSync(join(dataDir, 'backups'))
  t.strictSame(folder.length, copies.length, 'and nothing else is left there')
})

t.test('a copy is not restored under a running server, whatever its socket is', async (t) => {
  const { dataDir } = paying(t)
  const { stdout } = await oi(['admin', 'backup', '--data', dataDir])
  const server = await ServerProcess.start(t, { dataDir })
  const restore = () => oi(['admin', 'restore', stdout.trim(), '--data', dataDir])
  t.match(await restore(), {
    code: 1,
    stderr: /A server runs on the data folder .*: stop it first/,
  })
  t.equal(await server.stop(), 0)
  const open = new Accounts({ dataDir })
  t.match(await restore(), { code: 1, stderr: /Another process has the accounts open/ })
  open.close()
  t.match(await restore(), { code: 0 })
})

t.test('replaced accounts are kept, and keys that are valid again are named', async (t) => {
  const { dataDir, keyId } = paying(t)
  const path = join(dataDir, '..', 'copy.db')
  t.match(await oi(['admin', 'backup', path, '--data', dataDir]), { code: 0, stdout: `${path}\n` })
  t.match(await oi(['admin', 'backup', path, '--data', dataDir]), {
    code: 1,
    stderr: /copy\.db exists already/,
  })
  const accounts = new Accounts({ dataDir })
  accounts.keys.revoke(keyId)
  accounts.workspaces.create('later')
  accounts.close()
  const { code, stderr, stdout } = await oi(['admin', 'restore', path, '--data', dataDir])
  t.equal(code, 0)
  t.match(stdout, /^default +1000000 /m)
  t.notMatch(stdout, /later/)
  t.match(stderr, new RegExp(`Key ${keyId}, "first", was revoked since and is valid again`))
  const [, kept] = /from before are in (\S+)/.exec(stderr)!
  t.match(await oi(['admin', 'check', kept!]), { code: 0, stdout: /later/ })
})

t.test('a file that is not a copy is refused, and nothing changes', async (t) => {
  const { dataDir } = paying(t)
  const folder = join(dataDir, '..')
  const file = (name: string) => join(folder, name)
  writeFileSync(file('text'), 'no database')
  writeFileSync(file('empty'), '')
  t.match(await oi(['admin', 'backup', file('cut.db'), '--data', dataDir]), { code: 0 })
  truncateSync(file('cut.db'), statSync(file('cut.db')).size - 8192)
  const before = readFileSync(join(dataDir, 'accounts.db'))
  for (const [name, message] of [
    ['none', /none cannot be used: there is no such file/],
    ['text', /text cannot be used: the file is no database/],
    ['empty', /empty cannot be used: it has no workspaces and keys/],
    ['cut.db', /cut\.db/],
  ] as const) {
    for (const command of ['restore', 'check']) {
      const args = ['admin', command, file(name), '--data', dataDir]
      t.match(await oi(args), { code: 1, stderr: message }, `${command} ${name}`)
    }
  }
  t.ok(readFileSync(join(dataDir, 'accounts.db')).equals(before))
  t.notOk(readdirSync(dataDir).some((name) => /check|before/.test(name)))
  t.match(await oi(['admin', 'backup', join(folder, 'unmounted', 'b.db'), '--data', folder]), {
    code: 1,
    stderr: /there is no folder .*unmounted|There are no accounts/,
  })
  t.match(await oi(['admin', 'backup', '--data', join(folder, 'nothing')]), {
    code: 1,
    stderr: /There are no accounts in/,
  })
  t.notOk(existsSync(join(folder, 'nothing')))
})

t.test('damaged or missing accounts are replaced too', async (t) => {
  const { dataDir } = paying(t)
  const copy = join(dataDir, '..', 'copy.db')
  await oi(['admin', 'backup', copy, '--data', dataDir])
  writeFileSync(join(dataDir, 'accounts.db'), 'overwritten by something')
  t.match(await oi(['admin', 'restore', copy, '--data', dataDir]), { code: 0 })
  t.ok(isBalanced(audit(dataDir)))
  const other = join(dataDir, '..', 'other')
  mkdirSync(other)
  t.match(await oi(['admin', 'restore', copy, '--data', other]), { code: 0 })
  t.match(audit(other), { balance: 1_000_000_000_000 })
})
