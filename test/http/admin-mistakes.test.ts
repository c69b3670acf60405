/**
 * Every operation of the admin API with bad input: each is refused with a code and a sentence that
 * reveals nothing internal. The client checks each reply against the OpenAPI document.
 */
import t, { type Test } from 'tap'
import { type AdminOperation, adminOperations } from '../../src/api/admin/operations.js'
import { OiError } from '../../src/errors.js'
import type { AdminClient } from '../helpers/admin-client.js'
import { withAdmin } from '../helpers/admin-server.js'

const operations: readonly (readonly [string, AdminOperation])[] = Object.entries(adminOperations)

const bodies: readonly (string | undefined)[] = [
  ...[undefined, '', ' ', '{', '[]', 'null', '1', '"x"', '{"x":1}', '{"__proto__":{"a":1}}'],
  ...['{"name":7}', '{"name":""}', '{"name":"\\u0000"}', '{"name":"\\ud800"}', '{"name":null}'],
  ...['{"workspace_id":1e30}', '{"workspace_id":"1"}', '{"amount":1e400}', '{"amount":1.5}'],
  ...[
    '{"limits":null}',
    '{"limits":{"concurrent":-1}}',
    '{"budget":{"tokens":0}}',
    '{"models":[]}',
  ],
  ...['{"expires_at":"yesterday"}', '{"overlap_seconds":-1}', '{"overlap_seconds":1e12}'],
  ...[
    '{"file":"../../x"}',
    '{"file":"a\\u0000b"}',
    '{"file":7}',
    '{"input":-1}',
    '{"blocked":"no"}',
  ],
  ...[`{"name":"${'a'.repeat(10_000)}"}`, '['.repeat(10_000), '{"password":7}', '{"token":[]}'],
]
const names = [
  ...['0', '-1', '1e9', '999999', '99999999999999999999', 'abc', '1;2', "'", '%00', '%', '%zz'],
  ...['..%2F..%2Fetc%2Fpasswd', '%2e%2e', '1%20OR%201=1', '%F0%9F%92%A9', 'x'.repeat(3000)],
]
const queries = [
  ...[
    'x=1',
    '__proto__=1',
    'by=x',
    'by=key&by=model',
    'per=minute',
    'from=x',
    'from=-1',
    'limit=0',
  ],
  ...['limit=1e9', 'limit=', 'before=x', 'before=-1', 'format=xml', 'key_id=1', 'workspace_id=abc'],
  ...['from=2020-01-01T00:00:00Z&to=2019-01-01T00:00:00Z', `model=${'x'.repeat(5000)}`],
  ...['from=0001-01-01T00:00:00Z&to=9999-01-01T00:00:00Z&per=hour', '%', 'by=%00'],
]
/** No model has these names, and no file these paths. */
const nothing = () => Promise.reject(new OiError('ERR_NOT_FOUND', 'There is no such model'))
const models = {
  ...{ load: nothing, keep: nothing, unload: nothing, reload: nothing },
  status: () => [],
}
/** Never part of a message. */
const inside = /\[object|undefined|NaN|SQLITE|node:|\bat .+:\d+:\d+|TypeError/

interface Refusal {
  readonly error: { readonly code: string; readonly message: string }
}

t.test('every operation refuses bad input', (t) =>
  withAdmin(t, { options: { models } }, async ({ admin }) => {
    for (const [id, operation] of operations) {
      // The first two would end the session; the body of the last is that of /v1/systemone.
      if (['signOut', 'changePassword', 'decide'].includes(id)) continue
      await t.test(id, (t) => refuses(t, admin, operation))
    }
  }),
)

t.test('a repeated name is refused with its place', (t) =>
  withAdmin(t, { options: { models } }, async ({ admin }) => {
    for (const [text, place] of [
      ['{"name":"one","name":"two"}', 'name'],
      ['{"name":"one","budget":{"tokens":1,"period":"day","tokens":2}}', 'budget.tokens'],
    ] as const) {
      const { status, body } = await admin.ask<Refusal>('POST', '/workspaces', { body: text })
      t.equal(status, 422)
      t.equal(body.error.message, `${place}: expected it once, got it twice`)
    }
  }),
)

async function refuses(t: Test, admin: AdminClient, operation: AdminOperation): Promise<void> {
  const { method, path, needs, body } = operation
  const verb = method.toUpperCase()
  const at = (name: string) => path.replaceAll(/\{\w+\}/g, name)
  const refused = async (where: string, text?: string, headers: Record<string, string> = {}) => {
    const sent = { headers, ...(text !== undefined && { body: text }) }
    const reply = await admin.ask<Refusal>(verb, where, sent)
    const what = `${where.slice(0, 80)} ${text?.slice(0, 80)}: ${reply.status} ${reply.text}`
    if (reply.status < 400 || reply.status >= 500) t.fail(what)
    else if (inside.test(reply.body.error.message)) t.fail(what)
    return reply.status
  }
  if (body !== undefined) {
    // An empty change is a mistake.
    for (const text of bodies.filter((text) => text !== '{}')) await refused(at('1'), text)
    await refused(at('1'), '{}', { 'content-type': 'text/plain' })
  }
  if (path.includes('{')) for (const name of names) await refused(at(name), body && '{}')
  if (method === 'get' && needs !== 'nothing') {
    // A request with a known parameter and a good value is answered.
    for (const query of queries) {
      const { status, text } = await admin.ask(verb, `${at('1')}?${query}`)
      if (status >= 500 || inside.test(text)) t.fail(`${query}: ${text.slice(0, 200)}`)
    }
  }
  if (needs !== 'nothing') t.equal(await refused(at('1'), body && '{}', { cookie: '' }), 401)
}
