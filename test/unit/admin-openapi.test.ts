/** The OpenAPI document of the admin API. */
import t from 'tap'
import { adminApiDocument } from '../../src/api/admin/document.js'
import { adminOperations } from '../../src/api/admin/operations.js'
import { OpenApi } from '../helpers/openapi.js'

const openApi = new OpenApi(JSON.stringify(adminApiDocument()))

t.test('it is valid OpenAPI 3.1, without marks of the validator', (t) => openApi.requireValid(t))

t.test('it has every operation once, under its name', async (t) => {
  t.strictSame(
    openApi.operations.map(({ operation }) => operation.operationId).sort(),
    Object.keys(adminOperations).sort(),
  )
})

t.test(
  'every operation that changes something, or tells the token, needs the token of a session',
  async (t) => {
    for (const [id, { method, needs }] of Object.entries(adminOperations)) {
      const isOpen = ['signIn', 'firstSignIn'].includes(id)
      t.equal(needs === 'csrf', (method !== 'get' && !isOpen) || id === 'getSession', id)
      t.equal(needs === 'nothing', isOpen || id === 'getAdminOpenApi', id)
    }
  },
)

t.test('bodies with an unknown field are refused, except in the playground', async (t) => {
  for (const { operation } of openApi.operations) {
    const media = operation.requestBody?.content['application/json']
    if (media === undefined) continue
    const { schema } = media as unknown as { schema: { $ref: string } }
    const name = schema.$ref.split('/').at(-1)!
    const written = JSON.stringify(openApi.document.components.schemas[name])
    const strict = written.includes('"additionalProperties":false')
    t.equal(strict, name !== 'PlaygroundRequest', name)
  }
})
