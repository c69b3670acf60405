/**
 * The OpenAPI 3.1 document of the admin API, made from the table of its operations.
 *
 * @module
 */

import { type ErrorCode, errorTable } from '../../errors.js'
import { packageVersion } from '../../package-root.js'
import { type Part, reference, SchemaComponents } from '../openapi/components.js'
import { errorSchema } from '../openapi/errors.js'
import { type AdminOperation, adminOperations, adminPath } from './operations.js'

const description = `Administration of a server: workspaces, keys, usage, models. \
The console at \`/console\` uses only these operations.

\`signIn\` sets a cookie, and its reply has a token: every request that changes something sends it \
as \`x-oi-csrf\`. API keys are not accepted. Unknown fields are refused. Times are ISO 8601; those \
of replies are in UTC. Amounts of money are whole millionths of a credit.

The setting \`--admin\` decides who can reach it: by default only this machine.`

const tags = {
  Session: 'Signing in and out, and the password.',
  Workspaces: 'The shared limits of their keys, and the ledger.',
  Keys: 'Keys admit requests.',
  Usage: 'Usage over time.',
  Models: 'The models of the running server, and their prices.',
  Server: 'Its state, its settings, and the audit log.',
  Playground: 'Decisions without a key.',
} satisfies Record<AdminOperation['tag'], string>

/** Other errors, by status. */
const failures: Readonly<Record<number, string>> = {
  400: 'Of the right shape, but not acceptable.',
  401: 'There is no session, or it has ended; or the password is wrong.',
  402: "The workspace's balance is used up, or its budget.",
  403: 'Not from this address or page, or `x-oi-csrf` is missing or wrong.',
  404: 'There is no such route, workspace, key or model.',
  405: 'The path takes other methods.',
  409: 'A conflict with the current state: a name is taken, a key has been revoked.',
  413: 'The body is larger than the server takes.',
  415: 'The Content-Encoding of the body is not supported.',
  422: 'The body is not JSON, or a field is missing, unknown, or of a wrong type.',
  429: 'Too many wrong passwords; or the workspace has made too many requests.',
  500: 'A fault of the server; its log has more under the id of the request.',
  503: 'The accounts cannot be read or written now, a model is being loaded, or the server is shutting down.',
  504: 'The request was not answered in time.',
}

/** The document as a JSON value. Each call makes a new one. */
export function adminApiDocument(): Part {
  const components = new SchemaComponents()
  const responses = errorResponses(components)
  const paths: Record<string, Record<string, Part>> = {}
  for (const [id, operation] of Object.entries<AdminOperation>(adminOperations)) {
    const path = (paths[adminPath + operation.path] ??= {})
    path[operation.method] = describe(id, operation, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'oi admin',
      version: packageVersion(),
      summary: 'Workspaces, keys, usage and models of a server.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'oi_admin',
          description:
            'Set by `signIn`. If the address has a port, its name contains it: ' +
            '`oi_admin_8080` for `localhost:8080`.',
        },
      },
      parameters: {
        'x-oi-csrf': {
          name: 'x-oi-csrf',
          in: 'header',
          required: true,
          description: '`csrf_token` of the session.',
          schema: { type: 'string' },
        },
      },
      responses,
      schemas: components.schemas,
    },
  }
}

function describe(operationId: string, operation: AdminOperation, components: SchemaComponents) {
  const { path, tag, summary, description: more, needs, query = {}, body, reply } = operation
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'id' ? { type: 'integer', minimum: 1 } : { type: 'string', minLength: 1 },
  }))
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const { description: text } = schema as { description?: string }
    return {
      ...{ name, in: 'query' },
      ...(text !== undefined && { description: text }),
      schema: components.add(schema),
    }
  })
  const csrf = needs === 'csrf' ? [reference('parameters', 'x-oi-csrf')] : []
  const content = reply && {
    'application/json': { schema: components.add(reply) },
    ...('format' in query && { 'text/csv': { schema: { type: 'string' } } }),
  }
  return {
    operationId,
    tags: [tag],
    summary,
    ...(more !== undefined && { description: more }),
    security: needs === 'nothing' ? [] : [{ session: [] }],
    parameters: [...inPath, ...inQuery, ...csrf],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: components.add(body) } },
      },
    }),
    responses: {
      ...(content ? { 200: { description: 'Done.', content } } : { 204: { description: 'Done.' } }),
      ...Object.fromEntries(
        statusesOf(operation).map((status) => [status, reference('responses', `Error${status}`)]),
      ),
    },
  }
}

function statusesOf({ method, path, needs, body, tag }: AdminOperation): readonly number[] {
  const decides = tag === 'Playground'
  return [
    ...[400, 403, 404, 405, 500, 503],
    ...(needs === 'nothing' && body === undefined ? [] : [401]),
    ...(needs === 'csrf' && method !== 'get' ? [409] : []),
    ...(body === undefined ? [] : [413, 415, 422]),
    ...(decides ? [402, 504] : []),
    ...(decides || path.startsWith('/session') || path === '/password' ? [429] : []),
  ].sort((a, b) => a - b)
}

function errorResponses(components: SchemaComponents): Part {
  // API keys are not accepted here.
  const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => code !== 'ERR_API_KEY')
  return Object.fromEntries(
    Object.entries(failures).map(([status, text]) => {
      const own = codes.filter((code) => errorTable[code].status === Number(status))
      const schema = errorSchema(own, components)
      return [`Error${status}`, { description: text, content: { 'application/json': { schema } } }]
    }),
  )
}
