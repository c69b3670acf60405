/**
 * Asks the admin API as a script or the console would, and checks every reply against its OpenAPI
 * document.
 */
import type { Test } from 'tap'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { ended, RunningCommand } from './command.js'
import { OpenApi } from './openapi.js'
import type { Served } from './served.js'

export const password = 'correct horse battery'

interface AdminReply<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

export interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string; readonly param?: string }
}

export class AdminClient {
  /** The session's, as `name=value`. */
  cookie = ''
  /** By which the server knows a browser that has signed in before. */
  known = ''
  csrf = ''
  readonly #t: Test
  readonly #url: string
  #openApi: Promise<OpenApi> | undefined

  /** @param url - The server's address. */
  constructor(t: Test, url: string) {
    this.#t = t
    this.#url = url
  }

  /** @param path - The path after `/admin/v1`. */
  async ask<Body = unknown>(
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<AdminReply<Body>> {
    const { body, headers } = sent
    const reply = await fetch(`${this.#url}/admin/v1${path}`, {
      method,
      headers: {
        ...(this.cookie !== '' && { cookie: this.#cookies() }),
        ...(this.csrf !== '' && { 'x-oi-csrf': this.csrf }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    const [cookie = this.cookie, known = this.known] = reply.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0]!)
    this.cookie = cookie
    this.known = known
    const isJson = reply.headers.get('content-type') === 'application/json' && text !== ''
    const answer = {
      status: reply.status,
      headers: reply.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
    }
    await this.#check(method.toLowerCase(), path, answer)
    return answer
  }

  /** Like {@link ask}; the request must succeed. */
  async done<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const reply = await this.ask<Body>(method, path, body === undefined ? {} : { body })
    this.#t.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }

  /** Like {@link ask}; the request must fail with this status. @returns The message. */
  async refused(
    status: number,
    code: string,
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<string> {
    const reply = await this.ask<Refusal>(method, path, sent)
    const what = `${method} ${path}: ${reply.status} ${reply.text}`
    this.#t.match(reply, { status, body: { error: { code } } }, what)
    return reply.body.error.message
  }

  async signIn(text = password): Promise<void> {
    const session = await this.done<ReplyOf<'signIn'>>('POST', '/session', { password: text })
    this.csrf = session.csrf_token
  }

  #cookies(): string {
    return this.known === '' ? this.cookie : `${this.cookie}; ${this.known}`
  }

  async #check(method: string, path: string, { status, headers, text }: AdminReply): Promise<void> {
    this.#openApi ??= fetch(`${this.#url}/admin/v1/openapi.json`).then(
      async (reply) => new OpenApi(await reply.text()),
    )
    const openApi = await this.#openApi
    const [plain] = path.split('?', 1)
    const known = Object.keys(openApi.document.paths).find((pattern) =>
      new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(`/admin/v1${plain}`),
    )
    const operation = known && openApi.document.paths[known]![method]
    // The document has no such path or method.
    if (!operation) return
    const documented = operation.responses[status]
    const what = `${method} ${path} ${status}`
    if (documented === undefined) {
      this.#t.fail(`${what} is not documented: ${text}`)
      return
    }
    const [type] = (headers.get('content-type') ?? '').split(';', 1)
    const media = openApi.resolve(documented).content?.[type!]
    if (status === 204) this.#t.equal(text, '', what)
    else if (media === undefined) this.#t.fail(`${what} has no ${type}`)
    else this.#t.equal(openApi.bodyErrors(type!, media, text), '', what)
  }
}

/** Sets the password by the command. */
export const setPassword = (dataDir: string, text = password) =>
  ended(
    new RunningCommand(['admin', 'password', '--data-dir', dataDir], undefined, {}, `${text}\n`),
  )

/** An administrator of a server, with a password that the command has set. */
export async function adminOf(t: Test, { dataDir, url }: Served): Promise<AdminClient> {
  t.match(await setPassword(dataDir), { code: 0, stdout: /password is set/ })
  const admin = new AdminClient(t, url)
  await admin.signIn()
  return admin
}
