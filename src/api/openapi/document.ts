/**
 * The OpenAPI 3.1 document of the whole interface, made from the validating schemas.
 *
 * @module
 */

import { packageVersion } from '../../package-root.js'
import { type Part, SchemaComponents } from './components.js'
import { errorResponses } from './errors.js'
import { headers, parameters, pathParameters } from './headers.js'
import { paths } from './paths.js'

interface OpenApiOptions {
  /** Address of the server, without `/v1`; default: `/`, where the document itself comes from. */
  readonly serverUrl?: string | undefined
  /** The limit of questions in one request. Default 400. */
  readonly maxQuestions?: number | undefined
}

const description = `A self-hosted decision server: you send a **state** and typed **questions** \
about it, and every question is answered with probabilities. Nothing is generated as text.

Any request may have \`x-request-id\`, and its reply has the same id. Unknown fields are ignored. \
Any other path is answered 404, with the same body as every other error.`

/** The document as a JSON value. Each call makes a new one. */
export function openApiDocument({ serverUrl, maxQuestions = 400 }: OpenApiOptions = {}): Part {
  const components = new SchemaComponents()
  // Before the schemas are read: both add to them.
  const routes = paths(components)
  const responses = errorResponses(components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'oi',
      version: packageVersion(),
      summary: 'Typed questions about a state, answered with probabilities by a local model.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl ?? '/' }],
    tags: [
      { name: 'Questions', description: 'A state and questions in, answers out.' },
      { name: 'Workspace', description: "The limits and usage of a key's workspace." },
      { name: 'Server', description: 'The state of the server. Needs no key.' },
    ],
    paths: routes,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'oi-…',
          description: 'A key of a workspace: `oi-` and 43 letters, digits, `-` or `_`.',
        },
      },
      parameters: { ...parameters, ...pathParameters },
      headers,
      responses,
      schemas: withMostQuestions(components.schemas, maxQuestions),
    },
  }
}

/** The one limit that is not constant: a server's number of questions is a setting. */
function withMostQuestions(schemas: Part, maxQuestions: number): Part {
  const questions = schemas['Questions'] as Part
  return { ...schemas, Questions: { ...questions, maxProperties: maxQuestions } }
}
