/**
 * The OpenAPI document as another program reads it: from its JSON, with a validator that this
 * project does not use.
 */
import { Validator } from '@seriousme/openapi-schema-validator'
import { createRequire } from 'node:module'
import type { Test } from 'tap'

interface Ref {
  readonly $ref: string
}
export interface Media {
  readonly schema: { readonly contentSchema?: object }
  readonly examples?: Readonly<Record<string, Example>>
}
export interface Example {
  readonly value: unknown
  readonly 'x-oi-needs'?: string
}
export interface Header {
  readonly required?: boolean
  readonly schema: { readonly type: string }
}
export interface Response {
  readonly headers: Readonly<Record<string, Header | Ref>>
  readonly content: Readonly<Record<string, Media>>
}
export interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response | Ref>>
}
export interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly servers?: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

interface DocumentedReply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

interface Check {
  (value: unknown): boolean
  readonly errors?: readonly object[] | null
}
interface Ajv {
  compile(schema: object): Check
  validateSchema(schema: object): boolean
}

// The version that the document's validator depends on: the one at the top belongs to ESLint.
const fromValidator = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))
const { Ajv2020 } = fromValidator('ajv/dist/2020.js') as {
  Ajv2020: new (options: { strict: boolean; formats: Record<string, RegExp> }) => Ajv
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Reply headers that belong to the message, not to the interface. */
const plumbing = new Set([
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
  ...['uwebsockets'],
])

export class OpenApi {
  readonly document: Document
  readonly #ajv = new Ajv2020({ strict: false, formats: { 'date-time': isoTime } })
  readonly #checks = new Map<object, Check>()

  /** @param text - The document. */
  constructor(text: string) {
    this.document = JSON.parse(text) as Document
  }

  get operations(): { path: string; method: string; operation: Operation }[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      ['get', 'post', 'put', 'delete', 'patch'].flatMap((method) => {
        const operation = item[method]
        return operation === undefined ? [] : [{ path, method, operation }]
      }),
    )
  }

  /** The target of a reference, or the value itself. */
  resolve<T extends object>(value: T | Ref): T {
    if (!('$ref' in value)) return value
    const names = value.$ref.split('/').slice(1)
    const found = names.reduce<object>(
      (at, name) => (at as Record<string, object>)[name]!,
      this.document,
    )
    return found as T
  }

  /** What is wrong with a value; `''` if it fits its schema. */
  errors(schema: object, value: unknown): string {
    let check = this.#checks.get(schema)
    if (check === undefined) {
      // References begin at the root of the compiled schema.
      check = this.#ajv.compile({ ...schema, components: this.document.components })
      this.#checks.set(schema, check)
    }
    return check(value) ? '' : JSON.stringify(check.errors)
  }

  /** Checks that it is OpenAPI 3.1 of valid schemas, without marks of the validator that made them. */
  async requireValid(t: Test): Promise<void> {
    const text = JSON.stringify(this.document)
    const { schemas } = this.document.components
    t.match(this.document.openapi, /^3\.1\./)
    t.strictSame(await new Validator().validate(JSON.parse(text) as Record<string, unknown>), {
      valid: true,
    })
    t.notMatch(text, '"~')
    t.ok(Object.keys(schemas).length > 20)
    for (const [name, schema] of Object.entries(schemas)) {
      t.ok(this.#ajv.validateSchema(schema), name)
    }
  }

  /** What is wrong with a body of lines, JSON or text. */
  bodyErrors(type: string, { schema }: Media, body: string): string {
    if (type === 'application/json') return this.errors(schema, JSON.parse(body))
    if (schema.contentSchema === undefined) return this.errors(schema, body)
    if (!body.endsWith('\n')) return 'the last line is not ended'
    const lines = body.slice(0, -1).split('\n')
    return lines.map((line) => this.errors(schema.contentSchema!, JSON.parse(line))).join('')
  }

  /** Where a reply differs from the document; `''` if nowhere. */
  replyErrors(method: string, path: string, { status, headers, body }: DocumentedReply): string {
    const documented = this.document.paths[path]?.[method]?.responses[status]
    if (documented === undefined) return `${method} ${path} has no status ${status}`
    const response = this.resolve(documented)
    const [type] = headers.get('content-type')!.split(';', 1)
    const media = response.content[type!]
    if (media === undefined) return `${method} ${path} ${status} has no ${type}`
    return this.bodyErrors(type!, media, body) + this.#headerErrors(response, headers)
  }

  #headerErrors(response: Response, headers: Headers): string {
    let errors = ''
    for (const [name, reference] of Object.entries(response.headers)) {
      const header = this.resolve(reference)
      const text = headers.get(name)
      if (text === null) {
        if (header.required) errors += `${name} is missing. `
        continue
      }
      const value = header.schema.type === 'string' ? text : Number(text)
      errors += this.errors(header.schema, value)
    }
    for (const name of headers.keys()) {
      if (!plumbing.has(name) && !(name in response.headers)) errors += `${name} is not known. `
    }
    return errors
  }
}
