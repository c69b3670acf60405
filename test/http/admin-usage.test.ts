/** Usage by hour and day, budgets and their periods, and the usage that a key sees. */
import t from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import { dayMs } from '../../src/accounts/ledger/booking.js'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { validators } from '../../src/api/schemas.js'
import { WorkspaceAdmission } from '../../src/http/access/workspace-admission.js'
import { withAdmin } from '../helpers/admin-server.js'
import { bookingOf } from '../helpers/booking.js'
import { until } from '../helpers/until.js'
import { Router } from '../../src/decide/router.js'
import { fakeDecider } from '../helpers/fake-engine.js'
import { realWire } from '../helpers/stub.js'
import { get } from '../helpers/asking.js'
import { postBatch } from '../helpers/batch.js'

type Usage = ReplyOf<'getUsage'>
type NewKey = ReplyOf<'createKey'>

const at = (text: string) => Date.parse(text)

t.test('usage is given by workspace, key and model, per hour and day', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, workspaceId, keyId }) => {
    const { id: other } = accounts.workspaces.create('other')
    const second = accounts.createKey('default', 'second')
    const book = (id: number, key: number, time: string, model: string) =>
      void accounts.ledger.book({ ...bookingOf(id, 3, model), keyId: key, timeMs: at(time) }, false)
    // Within the hours that are kept.
    const today = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
    const yesterday = new Date(at(today) - 1).toISOString().slice(0, 10)
    book(workspaceId, keyId, `${today}T10:00:00Z`, 'a')
    book(workspaceId, keyId, `${today}T10:59:59Z`, 'a')
    book(workspaceId, second.id, `${today}T11:00:00Z`, 'b')
    book(other, 0, `${today}T11:30:00Z`, 'a')
    book(workspaceId, keyId, `${yesterday}T23:59:59.999Z`, 'b')
    const range = `from=${yesterday}&to=${today}T23:59:59Z`
    const rowsOf = async (query: string) => {
      const { rows } = await admin.done<Usage>('GET', `/usage?${range}&${query}`)
      return rows.map(({ start, workspace, key, model, requests, cost }) => {
        return [start.slice(0, 13), key ?? workspace ?? model, requests, cost]
      })
    }
    for (const flushed of [false, true]) {
      if (flushed) await until(() => accounts.ledger.flush())
      t.strictSame(await rowsOf('by=workspace&per=day'), [
        [`${today}T00`, 'default', 3, 9],
        [`${today}T00`, 'other', 1, 3],
        [`${yesterday}T00`, 'default', 1, 3],
      ])
      t.strictSame(await rowsOf('by=key&per=hour'), [
        [`${today}T11`, 'second', 1, 3],
        [`${today}T10`, 'first', 2, 6],
        [`${yesterday}T23`, 'first', 1, 3],
      ])
      t.strictSame(await rowsOf('by=model&per=hour'), [
        [`${today}T11`, 'a', 1, 3],
        [`${today}T11`, 'b', 1, 3],
        [`${today}T10`, 'a', 2, 6],
        [`${yesterday}T23`, 'b', 1, 3],
      ])
      t.strictSame(await rowsOf(`by=model&per=day&key_id=${keyId}`), [
        [`${today}T00`, 'a', 2, 6],
        [`${yesterday}T00`, 'b', 1, 3],
      ])
      t.strictSame(await rowsOf(`by=workspace&per=hour&model=a&workspace_id=${other}`), [
        [`${today}T11`, 'other', 1, 3],
      ])
    }
    const csv = await admin.ask('GET', `/usage?${range}&by=key&per=day&format=csv`)
    t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
    t.strictSame(csv.text.split('\r\n'), [
      'start,workspace_id,workspace,key_id,key,requests,input_tokens,output_tokens,image_tokens,cached_tokens,cost',
      `${today}T00:00:00.000Z,${workspaceId},default,${keyId},first,2,20,4,0,8,6`,
      `${today}T00:00:00.000Z,${workspaceId},default,${second.id},second,1,10,2,0,4,3`,
      `${yesterday}T00:00:00.000Z,${workspaceId},default,${keyId},first,1,10,2,0,4,3`,
      '',
    ])
    for (const [query, says] of [
      ['by=workspace&key_id=1', /by: expected key or model/],
      ['from=not-a-time', /from: expected a time as/],
      ['from=2027-02-29', /from: expected a time as/],
      ['from=2026-01-31T24:00:00Z', /from: expected a time as/],
      ['from=2026-01-02&to=2026-01-01', /from: expected a time before to/],
      ['per=hour&from=2026-01-01&to=2026-12-01', /at most 92 days/],
      ['by=day', /by: expected "workspace" or "key" or "model"/],
    ] as const) {
      t.match(await admin.refused(400, 'invalid_request', 'GET', `/usage?${query}`), says)
    }
  }),
)

t.test('a key sees its own usage beside its workspace’s, also with an empty balance', (t) =>
  withAdmin(t, {}, async ({ accounts, url, key, workspaceId, post }) => {
    const { secret: second } = accounts.createKey('default', 'second')
    const usageOf = async (secret: string) => {
      const reply = await get({ url, key: secret }, '/v1/usage')
      t.equal(reply.status, 200)
      const body: unknown = await reply.json()
      t.ok(validators.usage.Check(body), JSON.stringify(validators.usage.Errors(body)))
      return body
    }
    await post()
    await post()
    await post(second)
    t.match(await usageOf(second), {
      usage: [{ requests: 3 }],
      key: { name: 'second', usage: [{ requests: 1, input_tokens: 12 }] },
    })
    accounts.terms.setBudget(workspaceId, { tokens: 1, period: 'day' })
    accounts.credits.add(workspaceId, 5)
    accounts.credits.add(workspaceId, -5)
    t.equal((await post()).status, 402)
    t.match(await usageOf(key), {
      balance: 0,
      budget: { tokens: 1, period: 'day', remaining_tokens: 0, resets_at: /T00:00:00Z$/ },
      key: { name: 'first', usage: [{ requests: 2 }] },
    })
  }),
)

t.test('an exhausted budget refuses until its period ends, and says when', async (t) => {
  const clock = { nowMs: Date.now() }
  const admissionOf = (accounts: Accounts) =>
    new WorkspaceAdmission({ accounts, wallNow: () => clock.nowMs })
  await withAdmin(t, { admissionOf }, async ({ admin, workspaceId, post }) => {
    const path = `/workspaces/${workspaceId}`
    await admin.done('PATCH', path, { budget: { tokens: 40, period: 'day' } })
    // 15 tokens each: the third exceeds the budget, as it was admitted before it was exhausted.
    for (const status of [200, 200, 200, 402]) t.equal((await post()).status, status)
    const refused = await post()
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    t.equal(error.code, 'insufficient_balance')
    const tomorrow = new Date((Math.floor(Date.now() / dayMs) + 1) * dayMs)
    const reset = tomorrow.toISOString().replace('.000Z', 'Z')
    t.match(error.message, `40 tokens a day, is used up until ${reset}`)
    t.match(await admin.done('GET', path), {
      budget: { used_tokens: 45, remaining_tokens: 0, resets_at: tomorrow.toISOString() },
    })
    // The same time of the next day, by admission's clock.
    clock.nowMs = tomorrow.getTime()
    t.equal((await post()).status, 200)
    clock.nowMs = Date.now()
    await admin.done('PATCH', path, { budget: { tokens: 1_000_000, period: 'month' } })
    t.equal((await post()).status, 200, 'it can be raised at once')
    await admin.done('PATCH', path, { budget: null })
    t.equal((await post()).status, 200)
  })
})

t.test('bookings of another server count in the same budget', (t) =>
  withAdmin(t, {}, async ({ accounts, workspaceId, dataDir, post }) => {
    accounts.terms.setBudget(workspaceId, { tokens: 100, period: 'month' })
    t.equal((await post()).status, 200)
    const elsewhere = new Accounts({ dataDir })
    try {
      const booking = { ...bookingOf(workspaceId, 0), inputTokens: 90, timeMs: Date.now() }
      void elsewhere.ledger.book(booking, false)
      await until(() => elsewhere.ledger.flush())
    } finally {
      elsewhere.close()
    }
    t.equal((await post()).status, 402)
  }),
)

t.test('a key bound to models is refused others, and does not see them', async (t) => {
  const [big, small] = await Promise.all(
    ['big', 'small'].map((name) => fakeDecider({ name, default: name === 'big' })),
  )
  const decider = new Router([big!, small!])
  await withAdmin(t, { decider, wire: realWire }, async (server) => {
    const { admin, url, workspaceId, post } = server
    const key = await admin.done<NewKey>('POST', '/keys', {
      ...{ workspace_id: workspaceId, name: 'web', models: ['small'] },
    })
    const body = (model?: string) =>
      JSON.stringify({ model, state: 's', questions: { q: { type: 'noul', instructions: 'a' } } })
    t.equal((await post(key.secret, body('small'))).status, 200)
    for (const model of [undefined, 'big', 'latest']) {
      const reply = await post(key.secret, body(model))
      t.equal(reply.status, 400)
      const { error } = (await reply.json()) as { error: { message: string; param: string } }
      t.match(error, { param: 'model', message: 'this key may use small, not big' })
    }
    const unknown = await post(key.secret, body('medium'))
    t.match(await unknown.text(), /expected one of small, got/)
    const own = { url, key: key.secret }
    const list = (await (await get(own, '/v1/models')).json()) as { data: object[] }
    t.match(list.data, [{ id: 'small' }])
    const results = await postBatch(own, `{"requests":[${body('small')},${body('big')}]}`)
    t.match(await results.json(), { results: [{ status: 200 }, { status: 400 }] })
    await admin.done('PATCH', `/keys/${key.id}`, { models: null })
    t.equal((await post(key.secret, body('big'))).status, 200)
  })
})

t.test('the playground asks without a key, and counts to a workspace if one is named', (t) =>
  withAdmin(t, {}, async ({ admin, accounts, workspaceId }) => {
    const ask = (body: object) => admin.ask('POST', '/decide', { body })
    const request = { state: 's', questions: { q: { type: 'noul', instructions: 'a' } } }
    const reply = await ask(request)
    t.equal(reply.status, 200)
    t.match(reply.headers.get('server-timing'), /model;dur=1\.50/)
    t.notOk(reply.headers.get('x-ratelimit-limit-requests'))
    t.strictSame(accounts.usage('default').usage, [])
    t.match(await admin.done('GET', '/audit'), {
      unbooked: { requests: 1, input_tokens: 12, output_tokens: 3, image_tokens: 0 },
    })
    const counted = await ask({ ...request, workspace_id: workspaceId })
    t.equal(counted.status, 200)
    t.equal(counted.headers.get('x-ratelimit-limit-requests'), '6000')
    t.match(accounts.usage('default').usage, [{ requests: 1, inputTokens: 12 }])
    t.match(await admin.done('GET', '/audit'), { unbooked: { requests: 1 } })

    await admin.done('PATCH', `/workspaces/${workspaceId}`, { limits: { requests_per_minute: 1 } })
    const limited = await ask({ ...request, workspace_id: workspaceId })
    t.equal(limited.status, 429)
    t.equal((await ask(request)).status, 200)
    const sent = { body: { ...request, workspace_id: 99 } }
    await admin.refused(404, 'not_found', 'POST', '/decide', sent)
    const odd = { body: { ...request, workspace_id: 'x' } }
    t.match(await admin.refused(422, 'invalid_request', 'POST', '/decide', odd), /workspace_id/)
    await admin.refused(422, 'invalid_request', 'POST', '/decide', { body: '{' })
  }),
)
