import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { sessionIdleMs, sessionLongestMs } from '../../src/accounts/admin-access.js'
import { checkNewPassword, hashPassword, isPassword } from '../../src/admin/password.js'
import { dataFolder } from '../helpers/data-folder.js'
import { onEachStore } from '../helpers/stores.js'

onEachStore(
  'a session ends when it is idle, and at the latest after half a day',
  async (t, store) => {
    const { admin } = store.open()
    const startMs = Date.UTC(2026, 0, 1)
    const { secret, csrfToken, expiresMs } = admin.beginSession(startMs)
    t.equal(expiresMs, startMs + sessionLongestMs)
    t.match(admin.session(secret, startMs + 1), { secret, csrfToken, expiresMs })
    t.ok(admin.session(secret, startMs + sessionIdleMs - 1))
    t.ok(admin.session(secret, startMs + 2 * sessionIdleMs - 2), 'using it keeps it')
    t.notOk(admin.session(secret, startMs + 4 * sessionIdleMs))
    const other = admin.beginSession(startMs)
    let nowMs = startMs
    while (admin.session(other.secret, nowMs) !== undefined) nowMs += sessionIdleMs / 2
    t.equal(nowMs, startMs + sessionLongestMs)
  },
)

t.test('each session has its own secret and token, and the file holds neither', async (t) => {
  const dataDir = dataFolder(t)
  const accounts = new Accounts({ dataDir })
  const { admin } = accounts
  const sessions = [admin.beginSession(), admin.beginSession()]
  const texts = sessions.flatMap(({ secret, csrfToken }) => [secret, csrfToken])
  t.equal(new Set(texts).size, 4)
  const link = admin.createLink()!
  accounts.close()
  const file = readFileSync(join(dataDir, 'accounts.db'))
  for (const text of [...texts, link]) t.notOk(file.includes(text))
})

onEachStore('the link is valid for a day, and until there is a password', async (t, store) => {
  const { admin } = store.open()
  const nowMs = Date.now()
  const token = admin.createLink(nowMs)!
  t.equal(admin.createLink(), undefined, 'it is shown once')
  t.ok(admin.isLink(token, nowMs))
  t.notOk(admin.isLink(`${token}x`))
  t.notOk(admin.isLink(token, nowMs + 86_400_001))
  t.ok(admin.setFirstPassword(token, 'x'))
  t.notOk(admin.setFirstPassword(token, 'y'), 'nobody is second')
  t.equal(admin.passwordHash(), 'x')
  t.equal(admin.createLink(), undefined)
})

onEachStore('a password that another process sets ends all sessions here', async (t, store) => {
  const { admin } = store.open()
  const { secret } = admin.beginSession()
  store.open().admin.setPassword('x')
  t.notOk(admin.session(secret))
})

t.test(
  'a password is recognised by its hash alone, however the keyboard composed it',
  async (t) => {
    const hash = await hashPassword('Señora 12345678')
    t.match(hash, /^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
    t.ok(await isPassword('Señora 12345678'.normalize('NFD'), hash))
    t.notOk(await isPassword('Senora 12345678', hash))
    t.not(await hashPassword('Señora 12345678'), hash)
    t.notOk(await isPassword('anything', undefined))
    t.notOk(await isPassword('anything', 'nonsense'))
    for (const text of ['', 'elevenchars', 'x'.repeat(257)]) {
      t.throws(() => checkNewPassword(text), { code: 'ERR_ACCOUNTS' })
    }
  },
)
