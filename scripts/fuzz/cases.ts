/**
 * What is sent: the case of a number, which is the same for the same seed.
 *
 * Most are requests whose HTTP is right, so that their one reply is due, whatever is in them. In
 * the others HTTP itself is wrong, or the client leaves: nothing is due, but whatever comes must be
 * a reply, and the server must go on.
 *
 * @module
 */

import { createRandom, type Random } from '../../test/helpers/random.js'
import { makeBody } from './bodies.js'
import { type Body, routes } from './forms.js'
import { type Field, fieldsOf, headText, type Request, sentId } from './heads.js'
import { mutateBytes, noise } from './mutate.js'
import { spoil } from './spoil.js'

export interface Case {
  /** Written one after another, with a turn of the event loop or more in between. */
  readonly parts: readonly Buffer[]
  /** Whether exactly one reply must come, and one of ours. */
  readonly due: boolean
  readonly headOnly?: boolean
  /** The request id that must come back, if one must. */
  readonly id?: string | undefined
  /** Whether the client leaves as soon as it has sent this. */
  readonly leaves?: boolean
  /** Whether it says that it will send no more, and still reads. */
  readonly halfCloses?: boolean
}

/** By their methods. */
const others: Readonly<Record<string, readonly string[]>> = {
  GET: [
    ...['/healthz', '/readyz', '/metrics', '/v1/models', '/v1/models/default', '/v1/usage', '/'],
    ...['/openapi.json', routes.single, routes.batch, routes.decisions, '/v1/systemone/'],
    ...['//v1/systemone', '/v1/../v1/models', '/v1/systemone%00', `/${'a'.repeat(1000)}`, '//'],
    ...['/healthz?a=b&c=%ff', '/v1/models?', '/v1/v1/models', '/v1/models/', '/v1//models', '/.'],
    ...['/%76%31/models', '/v1%2fmodels', '/?', '/v1/models;a=b', '/v1/models%', '/V1/models'],
    `/${'%41'.repeat(900)}`,
  ],
  POST: [
    ...['/healthz', '/v1/chat/completions', '/v1/embeddings', '/v1/systemone/batch/'],
    '/v1/v1/systemone',
  ],
  HEAD: ['/healthz', '/v1/models', '/nowhere', routes.single],
  DELETE: ['/v1/models', routes.single],
  PUT: [routes.single],
  PATCH: [routes.single],
  OPTIONS: [routes.single],
}
const otherRoutes = Object.entries(others).flatMap(([method, paths]) =>
  paths.map((path) => [method, path] as const),
)

const mostParts = 4
const mostPipelined = 5

export class Cases {
  readonly #seed: number
  readonly #key: string

  readonly #forms: boolean

  /** @param seed - Whole. @param key - An API key of the server. @param forms - As `makeBody`. */
  constructor(seed: number, key: string, forms = false) {
    this.#forms = forms
    this.#seed = seed
    this.#key = key
  }

  /** @param index - From 0 on. Cases do not depend on each other. */
  at(index: number): Case {
    // Spread, as neighbouring seeds of a small generator begin alike.
    const random = createRandom(
      Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(this.#seed, 0x85ebca6b),
    )
    const share = random.next()
    if (share < 0.56) return due(this.#whole(random))
    if (share < 0.58) return this.#old(random)
    if (share < 0.6) return { ...due(this.#whole(random)), halfCloses: true }
    if (share < 0.66) return this.#inParts(random)
    if (share < 0.72) return this.#chunked(random)
    if (share < 0.8) return this.#elsewhere(random)
    if (share < 0.85) return this.#leaving(random)
    if (share < 0.94)
      return loose(spoil(this.#request(random, makeBody(random, this.#forms)), random))
    if (share < 0.97) return this.#pipelined(random)
    return loose([noise(random, 1 + random.integer(400))])
  }

  #whole(random: Random): Request {
    const body = makeBody(random, this.#forms)
    const request = this.#request(random, body)
    const length: Field = ['content-length', String(body.bytes.length)]
    return { ...request, fields: [...request.fields, length] }
  }

  #request(random: Random, { bytes, path: meant, fields: own = [] }: Body): Request {
    const path = random.integer(50) === 0 ? random.pick(Object.values(routes)) : meant
    const said = new Set(own.map(([name]) => name))
    const others = fieldsOf(random, this.#key).filter(([name]) => !said.has(name.toLowerCase()))
    return { method: 'POST', path, fields: [...others, ...own], body: bytes }
  }

  #inParts(random: Random): Case {
    const request = this.#whole(random)
    const bytes = bytesOf(request)
    const cuts = Array.from({ length: 1 + random.integer(mostParts - 1) }, () =>
      random.integer(bytes.length + 1),
    ).sort((a, b) => a - b)
    const parts = [0, ...cuts].map((cut, i) => bytes.subarray(cut, cuts[i] ?? bytes.length))
    return { ...due(request), parts: parts.filter((part) => part.length > 0) }
  }

  #chunked(random: Random): Case {
    const request = this.#request(random, makeBody(random, this.#forms))
    const fields: Field[] = [...request.fields, ['transfer-encoding', 'chunked']]
    const chunks: Buffer[] = []
    for (let at = 0; at < request.body.length;) {
      const chunk = request.body.subarray(at, at + 1 + random.integer(request.body.length))
      const size = chunk.length.toString(16)
      chunks.push(Buffer.from(`${size}\r\n`), chunk, Buffer.from('\r\n'))
      at += chunk.length
    }
    const body = Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
    return due({ ...request, fields, body })
  }

  /** As simple clients and proxies ask: one request, and the connection ends behind the reply. */
  #old(random: Random): Case {
    const request = this.#whole(random)
    // What a client of that time cannot read.
    const fields = request.fields.filter(([name]) => name.toLowerCase() !== 'accept')
    return due({ ...request, fields, version: '1.0' })
  }

  #elsewhere(random: Random): Case {
    const [method, path] = random.pick(otherRoutes)
    const none = Buffer.alloc(0)
    const fields = [...fieldsOf(random, this.#key)]
    if (method !== 'GET' && method !== 'HEAD') fields.push(['content-length', '0'])
    return due({ method, path, fields, body: none })
  }

  #leaving(random: Random): Case {
    const bytes = bytesOf(this.#whole(random))
    return { ...loose([bytes.subarray(0, 1 + random.integer(bytes.length))]), leaves: true }
  }

  #pipelined(random: Random): Case {
    const count = 2 + random.integer(mostPipelined - 1)
    const requests = Array.from({ length: count }, () =>
      random.integer(2) === 0
        ? bytesOf(this.#whole(random))
        : Buffer.from('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'),
    )
    const bytes = Buffer.concat(requests)
    return loose([random.integer(3) === 0 ? mutateBytes(bytes, random, bytes) : bytes])
  }
}

function bytesOf(request: Request): Buffer {
  return Buffer.concat([Buffer.from(headText(request), 'latin1'), request.body])
}

function due(request: Request): Case {
  const headOnly = request.method === 'HEAD'
  return { parts: [bytesOf(request)], due: true, headOnly, id: sentId(request) }
}

function loose(parts: readonly Buffer[]): Case {
  return { parts, due: false }
}
