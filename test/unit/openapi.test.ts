/** The OpenAPI document by itself: valid, complete, and consistent with the validating schemas. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type from 'typebox'
import { SchemaComponents } from '../../src/api/openapi/components.js'
import { openApiDocument } from '../../src/api/openapi/document.js'
import { adminCodes, errorTable } from '../../src/errors.js'
import { packageRoot } from '../../src/package-root.js'
import { badShapes } from '../helpers/bad-shapes.js'
import { oddRequests } from '../helpers/odd-requests.js'
import { OpenApi } from '../helpers/openapi.js'
import { picturesIn } from '../helpers/picture-forms.js'
import { png } from '../helpers/pictures.js'

const openApi = new OpenApi(JSON.stringify(openApiDocument()))
const { document, operations } = openApi
const asking = document.paths['/v1/systemone']!['post']!.requestBody!.content['application/json']!

t.test('it is valid OpenAPI 3.1, without marks of the validator', (t) => openApi.requireValid(t))

t.test('it has the version of the package, and the server that is given, or its own', async (t) => {
  const file = readFileSync(join(packageRoot, 'package.json'), 'utf8')
  t.equal(document.info.version, (JSON.parse(file) as { version: string }).version)
  t.strictSame(document.servers, [{ url: '/' }])
  const { servers } = openApiDocument({ serverUrl: 'https://oi.example' })
  t.strictSame(servers, [{ url: 'https://oi.example' }])
})

t.test('every operation has its own name', async (t) => {
  const names = operations.map(({ operation }) => operation.operationId)
  t.equal(new Set(names).size, names.length)
})

t.test(
  'routes with questions list their request headers, others only the common ones',
  async (t) => {
    for (const { path, operation } of operations) {
      const { parameters } = operation as unknown as { parameters: { $ref: string }[] }
      const asks = /^\/v1\/(?:systemone|decisions)/.test(path)
      t.strictSame(
        parameters.map(({ $ref }) => $ref.split('/').at(-1)),
        asks
          ? [
              ...['content-encoding', 'accept-encoding', 'traceparent', 'x-request-id'],
              ...['x-oi-evidence', 'x-oi-orders', 'idempotency-key', 'x-typesafe-retry-count'],
            ]
          : [...(path.endsWith('{id}') ? ['id'] : []), 'accept-encoding', 'x-request-id'],
        path,
      )
    }
  },
)

/** Administrators have their own document. */
const table = Object.entries(errorTable).filter(
  ([code]) => !(adminCodes as readonly string[]).includes(code),
)

t.test('every error of the table is a reply, with its code and an example', async (t) => {
  const replies = operations.flatMap(({ operation }) =>
    Object.entries(operation.responses).map(([status, response]) => ({
      status: Number(status),
      media: openApi.resolve(response).content['application/json'],
    })),
  )
  for (const [code, { status, wire }] of table) {
    const media = replies.find((reply) => reply.status === status)?.media
    if (media === undefined) {
      t.fail(`${code}: no operation has the status ${status}`)
      continue
    }
    const shown = Object.values(media.examples!).map(
      ({ value }) => (value as { error: { code: string } }).error.code,
    )
    t.ok(shown.includes(wire), `${code} has an example`)
    const body = (code: string) => ({ error: { code, message: 'm', type: 't' }, detail: 'm' })
    t.equal(openApi.errors(media.schema, body(wire)), '', `${code} may be ${wire}`)
    t.not(openApi.errors(media.schema, body('another')), '', `${status} has no other codes`)
  }
})

t.test('a status has one component for each of its error codes', async (t) => {
  const statuses = [...new Set(table.map(([, { status }]) => status))].sort()
  t.strictSame(
    Object.keys(document.components.responses),
    statuses.map((status) => `Error${status}`),
  )
})

t.test('every example of a reply fits its schema', async (t) => {
  let count = 0
  for (const { operation } of operations) {
    for (const response of Object.values(operation.responses)) {
      for (const [type, media] of Object.entries(openApi.resolve(response).content)) {
        for (const [name, { value }] of Object.entries(media.examples ?? {})) {
          const body = typeof value === 'string' ? value : JSON.stringify(value)
          t.equal(openApi.bodyErrors(type, media, body), '', `${operation.operationId} ${name}`)
          count++
        }
      }
    }
  }
  t.ok(count > 30)
})

t.test('every example of a request fits its schema', async (t) => {
  const bodies = operations.flatMap(({ path, operation: { requestBody } }) =>
    requestBody === undefined ? [] : [[path, requestBody.content] as const],
  )
  t.equal(bodies.length, 3)
  for (const [path, content] of bodies) {
    const inParts = path === '/v1/decisions' ? [] : ['multipart/form-data']
    t.strictSame(Object.keys(content), ['application/json', ...inParts])
    const { schema, examples } = content['application/json']!
    for (const [name, { value }] of Object.entries(examples!)) {
      t.equal(openApi.errors(schema, value), '', name)
    }
  }
})

t.test('the examples have every type of question, alone and together, and images', async (t) => {
  const bodies = Object.values(asking.examples!).map(({ value }) => JSON.stringify(value))
  for (const types of [['noul'], ['choice'], ['score'], ['choice', 'noul', 'score']]) {
    const found = bodies.some((body) => {
      const { questions } = JSON.parse(body) as { questions: Record<string, { type: string }> }
      const asked = new Set(Object.values(questions).map(({ type }) => type))
      return [...asked].sort().join() === types.join()
    })
    t.ok(found, types.join())
  }
  for (const image of ['"type":"image"', '"type":"image_url"']) {
    t.ok(bodies.some((body) => body.includes(image)))
  }
})

t.test('every form of an image fits a schema', async (t) => {
  const { inState, beside } = picturesIn(await png(8, 8))
  const forms = Object.keys(document.components.schemas).filter((name) => /Image/.test(name))
  const questions = { q: { type: 'noul', instructions: '?' } }
  for (const [what, [photo, rest]] of Object.entries(inState)) {
    const errors = openApi.errors(asking.schema, { state: { photo }, questions, ...rest })
    t.equal(errors, '', what)
    if (typeof photo === 'string') continue
    const known = forms.filter(
      (name) => openApi.errors({ $ref: `#/components/schemas/${name}` }, photo) === '',
    )
    t.equal(known.length, 1, `${what}: ${known.join()}`)
  }
  for (const [what, rest] of Object.entries(beside)) {
    t.equal(openApi.errors(asking.schema, { state: 'x', questions, ...rest }), '', what)
  }
  for (const wrong of [{ images: [7] }, { image: 7 }, { assets: { a: 'x' } }, { assets: [] }]) {
    t.not(openApi.errors(asking.schema, { state: 'x', questions, ...wrong }), '')
  }
})

t.test('questions and answers are distinguished by their type', async (t) => {
  for (const kind of ['Question', 'Answer']) {
    const mapping = Object.fromEntries(
      ['Noul', 'Choice', 'Score'].map((type) => [
        type.toLowerCase(),
        `#/components/schemas/${type}${kind}`,
      ]),
    )
    t.match(document.components.schemas[kind], {
      oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
      discriminator: { propertyName: 'type', mapping },
    })
  }
})

t.test('the schema allows every answer of the server', async (t) => {
  for (const { what, body } of oddRequests) {
    t.equal(openApi.errors(asking.schema, JSON.parse(body)), '', what)
  }
})

t.test('the schema refuses every wrong shape', async (t) => {
  // JSON Schema cannot see repeated names, or that there is no question; unknown names are allowed.
  const unseen = /twice|nothing is asked|true, false or both/
  const seen = badShapes.filter(([, , , says]) => !unseen.test(String(says)))
  t.ok(seen.length > 50)
  for (const [what, body] of seen) {
    t.not(openApi.errors(asking.schema, JSON.parse(body as string)), '', what)
  }
})

t.test('an undocumented image is still an object of the state', async (t) => {
  const block = openApi.document.components.schemas['ImageBlock']!
  const source = { type: 'base64', media_type: 'image/png', data: '' }
  t.equal(openApi.errors(block, { type: 'image', source, max_pixels: 4096 }), '')
  for (const wrong of [
    { type: 'image' },
    { type: 'image', source: { ...source, media_type: 'image/bmp' } },
    { type: 'image', source, max_pixels: 4095 },
    { type: 'image', source, max_pixels: 16_777_217 },
  ]) {
    t.not(openApi.errors(block, wrong), '', JSON.stringify(wrong))
    const questions = { q: { type: 'noul', instructions: 'Is it?' } }
    t.equal(openApi.errors(asking.schema, { state: wrong, questions }), '')
  }
})

t.test('a schema with a title becomes a component, wherever it stands', async (t) => {
  const components = new SchemaComponents()
  const inner = Type.Object({ default: Type.String() }, { title: 'Inner' })
  const outer = Type.Object({ a: Type.Optional(inner), properties: Type.Array(inner) })
  const $ref = '#/components/schemas/Inner'
  t.strictSame(components.add(outer), {
    type: 'object',
    required: ['properties'],
    properties: { a: { $ref }, properties: { type: 'array', items: { $ref } } },
  })
  t.strictSame(components.schemas, {
    Inner: {
      title: 'Inner',
      type: 'object',
      required: ['default'],
      properties: { default: { type: 'string' } },
    },
  })
})

t.test('two schemas cannot have one title', async (t) => {
  const components = new SchemaComponents()
  components.add(Type.String({ title: 'Same' }))
  components.add(Type.String({ title: 'Same' }))
  t.throws(() => components.add(Type.Number({ title: 'Same' })), { code: 'ERR_INVALID_ARGUMENT' })
})
