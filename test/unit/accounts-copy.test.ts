import { bookingOf } from '../helpers/booking.js'
import { isBalanced } from '../helpers/audit.js'
import { onEachStore } from '../helpers/stores.js'
import { Accounts } from '../../src/accounts/accounts.js'
import { dataFolder } from '../helpers/data-folder.js'

onEachStore('accounts are copied to SQLite and back, with ids and sums', async (t, store) => {
  const source = store.open()
  const { id } = source.workspaces.create('default')
  source.workspaces.create('other')
  const admin = source.administer({ kind: 'command', detail: 'test' })
  const first = admin.createKey(id, { name: 'a', expiresMs: null, models: ['m'] })
  const { secret } = admin.rotateKey(first.id, 60_000)
  source.prices.set('m', { input: 3 })
  source.credits.add(id, 1_000_000)
  for (let i = 0; i < 2500; i++) {
    void source.ledger.book({ ...bookingOf(id, i % 7), keyId: first.id }, false)
  }
  const retry = { key: 'k', item: 0, request: 'r', untilMs: Date.now() + 1e6, answered: false }
  await source.ledger.book({ ...bookingOf(id, 5), retry }, true)
  t.ok(source.ledger.flush())
  source.admin.setPassword('hash')

  const dataDir = dataFolder(t)
  const copy = new Accounts({ dataDir })
  t.teardown(() => copy.close())
  const copied = source.copyTo(copy)
  t.match(Object.fromEntries(copied.map(({ table, rows }) => [table, rows])), {
    workspaces: 2,
    keys: 2,
    usage: 1,
    retry_keys: 1,
    admin_password: 1,
    audit: 2,
  })
  t.strictSame(copy.keys.list(), source.keys.list())
  t.strictSame(copy.workspaces.list(), source.workspaces.list())
  t.strictSame(copy.audit.page(10), source.audit.page(10))
  t.strictSame(copy.check(), source.check())
  t.equal(copy.authenticate(`Bearer ${secret}`).workspaceId, id)
  t.equal(await copy.ledger.book({ ...bookingOf(id, 5), retry }, true), false, 'a retry stays one')
  t.throws(() => source.copyTo(copy), { code: 'ERR_ACCOUNTS', message: /already/ })

  const last = copy.workspaces.create('third').id
  t.ok(last > 2)
})

onEachStore('accounts that SQLite had go on in another store', async (t, store) => {
  const source = new Accounts({ dataDir: dataFolder(t) })
  t.teardown(() => source.close())
  const { secret, workspaceId } = source.createFirstKey()!
  source.credits.add(workspaceId, 1000)
  await source.ledger.book(bookingOf(workspaceId, 30), true)
  const target = store.open()
  source.copyTo(target)
  target.authenticate(`Bearer ${secret}`)
  await target.ledger.book(bookingOf(workspaceId, 70), true)
  t.ok(isBalanced(store.audit()))
  t.match(store.audit(), { balance: 900, booked: 2 })
  t.ok(target.workspaces.create('next').id > workspaceId)
  t.ok(target.createKey('next', 'k').id > 1)
  target.credits.add(workspaceId, 5)
})
