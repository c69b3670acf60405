/**
 * Converts schemas for an OpenAPI document.
 *
 * Rules
 *   1. A schema with a title is a component of that name; elsewhere a reference replaces it.
 *   2. A union of such schemas with a `type` of their own has that as its discriminator.
 *   3. The validator's additions to a schema are not enumerable, and stay out.
 *
 * @module
 */

import { OiError } from '../../errors.js'

/** An object of the document. */
export type Part = Readonly<Record<string, unknown>>

/** Keywords whose value is data, in which `title` is only a member. */
const data = new Set(['const', 'default', 'enum', 'examples'])

export class SchemaComponents {
  readonly #schemas = new Map<string, Part>()

  /** All schemas with a title so far, by title. */
  get schemas(): Part {
    return Object.fromEntries(this.#schemas)
  }

  /**
   * A schema in the document's form: with a title, a reference.
   *
   * @throws {@link OiError} `ERR_INVALID_ARGUMENT` if another schema has the same title.
   */
  add(schema: object): Part {
    const written = this.#written(schema as Part)
    const { title } = written
    if (typeof title !== 'string') return written
    const known = this.#schemas.get(title)
    if (known === undefined) {
      this.#schemas.set(title, written)
    } else if (JSON.stringify(known) !== JSON.stringify(written)) {
      throw new OiError('ERR_INVALID_ARGUMENT', `Two schemas have the title ${title}`)
    }
    return reference('schemas', title)
  }

  #written(schema: Part): Part {
    const written = mapped(schema, (value, key) => {
      if (data.has(key)) return value
      // These are names, which may equal keywords.
      if (key === 'properties') return mapped(value as Part, (member) => this.#value(member))
      return this.#value(value)
    })
    const mapping = typesIn(schema['anyOf'])
    if (mapping === undefined) return written
    const { anyOf, ...rest } = written
    return { ...rest, oneOf: anyOf, discriminator: { propertyName: 'type', mapping } }
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#value(item))
    return typeof value === 'object' && value !== null ? this.add(value) : value
  }
}

function mapped(part: Part, change: (value: unknown, key: string) => unknown): Part {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, change(value, key)]))
}

/** @param section - Of `components`. */
export function reference(section: string, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${section}/${name}` }
}

/** `type` -> component, if every member of a union is a component with a type of its own. */
function typesIn(members: unknown): Readonly<Record<string, string>> | undefined {
  if (!Array.isArray(members)) return undefined
  const mapping: Record<string, string> = {}
  for (const { title, properties } of members as readonly Typed[]) {
    const type = properties?.type?.const
    if (title === undefined || type === undefined) return undefined
    mapping[type] = reference('schemas', title).$ref
  }
  return mapping
}

interface Typed {
  readonly title?: string
  readonly properties?: { readonly type?: { readonly const?: string } }
}
