/**
 * The configurations that operators copy, scripts/deploy/proxies, on other ports and with another
 * certificate. Nothing else in them is changed.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { type Configuration, nginxAround, type ProxyName, type ProxyOptions } from './proxies.js'

export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

const files = {
  nginx: 'nginx.conf',
  haproxy: 'haproxy.cfg',
  caddy: 'Caddyfile',
  envoy: 'envoy.yaml',
}

/** Text -> its replacement. */
const changes = (
  { folder, port, serverPort }: ProxyOptions,
  { certFile, keyFile }: Certificate,
): Readonly<Record<ProxyName, Readonly<Record<string, string>>>> => ({
  nginx: {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    'oi.example.com': 'localhost',
    '/etc/ssl/oi/fullchain.pem': certFile,
    '/etc/ssl/oi/privkey.pem': keyFile,
    '127.0.0.1:8080': `127.0.0.1:${serverPort}`,
  },
  haproxy: {
    'bind :443': `bind 127.0.0.1:${port}`,
    '/etc/haproxy/oi.pem': join(folder, 'both.pem'),
    '127.0.0.1:8080': `127.0.0.1:${serverPort}`,
  },
  caddy: {
    // By default it asks an authority for the certificate.
    'oi.example.com {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certFile} ${keyFile}`,
    '127.0.0.1:8080': `127.0.0.1:${serverPort}`,
  },
  envoy: {
    'address: 0.0.0.0, port_value: 443': `address: 127.0.0.1, port_value: ${port}`,
    '/etc/ssl/oi/fullchain.pem': certFile,
    '/etc/ssl/oi/privkey.pem': keyFile,
    'port_value: 8080': `port_value: ${serverPort}`,
  },
})

/** @throws Error if a file lacks a text to replace. */
export function deployed(name: ProxyName, certificate: Certificate): Configuration {
  return (options) => {
    const { folder } = options
    const { certFile, keyFile } = certificate
    const both = [certFile, keyFile].map((file) => readFileSync(file, 'utf8')).join('\n')
    writeFileSync(join(folder, 'both.pem'), both)
    let text = readFileSync(join(root, 'scripts', 'deploy', 'proxies', files[name]), 'utf8')
    for (const [from, to] of Object.entries(changes(options, certificate)[name])) {
      if (!text.includes(from)) throw new Error(`${files[name]}: expected "${from}"`)
      text = text.replaceAll(from, to)
    }
    if (name === 'nginx') return nginxAround(folder, text)
    // Its own admin port, and the port for redirects, may be in use.
    const alone = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
    return name === 'caddy' ? alone + text : text
  }
}
