/** HTTPS to a proxy with the certificate of the fixtures. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'

export const certificate = {
  certFile: join(root, 'test/fixtures/localhost.pem'),
  keyFile: join(root, 'test/fixtures/localhost-key.pem'),
}
const ca = readFileSync(certificate.certFile)

interface Sent {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The client's own address, of the loopback network. */
  readonly from?: string
}

/** @param front - Where the proxy listens, and the key. */
export function send(
  { port, key }: { readonly port: number; readonly key: string },
  { path, headers, body, from }: Sent,
): Promise<IncomingMessage> {
  const method = body === undefined ? 'GET' : 'POST'
  const standard = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', servername: 'localhost', port, path, method, ca, agent: false },
        ...(from !== undefined && { localAddress: from }),
        headers: { ...standard, host: `localhost:${port}`, ...headers },
      },
      resolve,
    )
    sent.once('error', reject)
    sent.end(body)
  })
}

export async function textOf(reply: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of reply.setEncoding('utf8')) text += part
  return text
}
