/** Who shares evaluated states, by `--share-states`: each kind of request carries its scope. */
import t from 'tap'
import type { ShareStates } from '../../src/http/access/state-scope.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'
import { post } from '../helpers/asking.js'

const terms = { name: 'k', expiresMs: null, models: null }
const questions = { q: { type: 'noul', instructions: 'Is it?' } }
const predicate = { type: 'predicate', instructions: 'Is it?' }
const bodies = {
  '/v1/systemone': { state: 's', questions },
  '/v1/systemone/batch': { states: ['s'], questions },
  '/v1/decisions': {
    input: [{ role: 'user', content: 's' }],
    questions: [predicate],
  },
}

for (const [shareStates, shared] of [
  ['workspace', [true, false]],
  ['key', [false, false]],
  ['all', [true, true]],
] as const satisfies readonly (readonly [ShareStates, readonly boolean[]])[]) {
  t.test(`${shareStates}: which keys share states`, (t) => {
    const scopes: (string | undefined)[] = []
    const decide = async (_: unknown, options?: { scope?: string | undefined }) => {
      scopes.push(options?.scope)
      return decision
    }
    return withServer(
      { decider: stubDecider(decide), shareStates },
      async ({ url, key, accounts }) => {
        const { id } = accounts.workspaces.create('other')
        const own = accounts.workspaces.get('default').id
        const same = accounts.keys.create(own, terms).secret
        const other = accounts.keys.create(id, terms).secret
        for (const [path, body] of Object.entries(bodies)) {
          scopes.length = 0
          for (const secret of [key, key, same, other]) {
            await (await post({ url, key: secret }, body, {}, path)).text()
          }
          t.equal(scopes.length, 4, path)
          const [first, again, ofSame, ofOther] = scopes
          t.equal(typeof first, 'string', path)
          t.same(
            [again, ofSame, ofOther].map((scope) => scope === first),
            [true, ...shared],
            path,
          )
        }
      },
    )
  })
}
