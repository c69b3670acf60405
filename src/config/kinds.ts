/**
 * The kinds of setting values: a schema each, with its words for help texts, messages and the
 * guide.
 *
 * @module
 */

import Type from 'typebox'

/** Further properties of a setting, besides its values, its default and its description. */
export interface Traits {
  /** The unit of its number. */
  readonly unit?: string
  /** Stands for the value in help texts. Default: `n`. */
  readonly placeholder?: string
  /** A shorter flag. */
  readonly shortcut?: string
  /** Whether SIGHUP applies a changed value to a running server. */
  readonly live?: boolean
  /** What an empty default means. Default: none. */
  readonly empty?: string
  /** Whether its value is hidden. */
  readonly secret?: boolean
}

interface Range extends Traits {
  /** Default 0. */
  readonly from?: number
  readonly to: number
  /** The default of the setting. Default 0. */
  readonly standard?: number
}

export const integer = ({ from = 0, to, standard = 0, ...traits }: Range, description: string) =>
  Type.Integer({
    ...{ minimum: from, maximum: to, default: standard, description, ...traits },
    expected: `an integer from ${from} to ${to}`,
  })

export const text = (
  minLength: number,
  standard: string,
  description: string,
  traits: Traits = {},
) =>
  Type.String({
    ...{ minLength, default: standard, description, ...traits },
    expected: minLength === 0 ? 'a text' : 'a text that is not empty',
  })

/** A file or folder; a relative path in a settings file is resolved from that file's folder. */
export const path = (...[minLength, standard, description, traits]: Parameters<typeof text>) => ({
  ...text(minLength, standard, description, { placeholder: 'file', ...traits }),
  isPath: true,
})

const list = (pattern: string, expected: string, description: string, traits: Traits) =>
  Type.String({ pattern: `^(?:${pattern})?$`, default: '', description, expected, ...traits })

/**
 * An origin as browsers write it: scheme, host in lower case, a port unless it is the default one.
 */
const origin = '[a-z][a-z0-9+.-]*://[a-z0-9._:\\[\\]-]+'

export const origins = (description: string, traits: Traits = {}) =>
  list(
    `\\*|${origin}(?: *, *${origin})*`,
    'origins like https://app.example with commas between them, or * for all',
    description,
    { placeholder: 'origins', ...traits },
  )

/** Addresses and networks. Only a rough check: each is parsed when it is used. */
const network =
  '(?:[0-9.]{7,15}(?:/(?:[12]?\\d|3[0-2]))?|[0-9A-Fa-f:.]{2,45}(?:/(?:\\d\\d?|1[01]\\d|12[0-8]))?)'

export const networks = (description: string, traits: Traits = {}) =>
  list(
    `${network}(?: *, *${network})*`,
    'addresses or networks like 10.0.0.0/8 with commas between them',
    description,
    { placeholder: 'networks', ...traits },
  )

/** Devices by ggml's names; whether they exist is checked when a model is opened. */
export const devices = (description: string) =>
  list(
    '[^\\s,]+(?: *, *[^\\s,]+)*',
    'names of devices like CUDA0, CUDA0+CUDA1, cpu or rpc://host:port with commas between them',
    description,
    { placeholder: 'names' },
  )

/** Shares of several devices, in the order of the devices. */
export const shares = (description: string) =>
  list(
    '\\d+(?:\\.\\d+)?(?: *, *\\d+(?:\\.\\d+)?)*',
    'numbers like 3,1 with commas between them',
    description,
    { placeholder: 'shares' },
  )

/** The base address of a service, without query and fragment. */
export const address = (description: string, traits: Traits = {}) =>
  list(
    'https?://[^\\s/?#@]+(?:/[^\\s?#]*)?',
    'an address like http://127.0.0.1:4318',
    description,
    { placeholder: 'url', ...traits },
  )

/** A store by its address; with its user and password, if it wants them. */
const store = (pattern: string, example: string, description: string) =>
  list(pattern, `an address like ${example}`, description, { placeholder: 'url', secret: true })

/** A store that speaks Redis' protocol. */
export const redis = (description: string) =>
  store('rediss?://[^\\s/?#]+(?:/\\d+)?', 'redis://127.0.0.1:6379', description)

/** A database of PostgreSQL; its parameters are those of the driver. */
export const postgres = (description: string) =>
  store(
    'postgres(?:ql)?://[^\\s/?#]*/[^\\s?#]+(?:\\?\\S+)?',
    'postgres://oi:secret@127.0.0.1:5432/oi',
    description,
  )

/** Headers of requests that the server makes. */
export const headers = (description: string, traits: Traits = {}) =>
  list(
    "[A-Za-z0-9!#$%&'*+.^_`|~-]+=[^,\\r\\n]*(?:,[A-Za-z0-9!#$%&'*+.^_`|~-]+=[^,\\r\\n]*)*",
    'headers like name=value with commas between them',
    description,
    { placeholder: 'headers', ...traits },
  )

export const flag = (description: string, traits: Traits = {}) =>
  Type.Boolean({
    ...{ default: false, description, ...traits },
    expected: 'true or false, in a variable also 1 or 0',
  })

export const oneOf = <const T extends string | number>(
  values: readonly T[],
  description: string,
  traits: Traits = {},
) =>
  Type.Union(
    // For an array that is no tuple, TypeBox infers never.
    values.map((value) => Type.Literal(value)) as unknown as [Type.TLiteral<T>],
    {
      ...{ default: values[0]!, description, placeholder: 'which', ...traits },
      expected: values.map((value) => JSON.stringify(value)).join(' or '),
      isNumeric: values.some((value) => typeof value === 'number'),
      values,
    },
  )
