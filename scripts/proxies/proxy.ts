/**
 * nginx and HAProxy as Debian has them, each between clients and a server on loopback: what a
 * configuration must say, and nothing of what has a default.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Child } from '../bench/child.js'

export type ProxyName = 'nginx' | 'haproxy'

export interface ProxyOptions {
  /** For its configuration and what it writes. */
  readonly folder: string
  /** Where it listens. */
  readonly port: number
  /** Of the server behind it. */
  readonly serverPort: number
}

/** `proxy_pass` alone: HTTP/1.0 to the server, and a connection for each request. */
const nginxConfiguration = ({ folder, port, serverPort }: ProxyOptions) => `
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
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${serverPort}; }
  }
}
`

/** HAProxy has no timeouts by itself; its health check is HTTP/1.0 without a host. */
const haproxyConfiguration = ({ port, serverPort }: ProxyOptions) => `
defaults
  mode http
  option httpchk GET /healthz
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen oi
  bind 127.0.0.1:${port}
  server oi 127.0.0.1:${serverPort} check inter 500ms
`

const startLimitMs = 10_000

/** Starts a proxy. @returns It, listening. */
export async function startProxy(name: ProxyName, options: ProxyOptions): Promise<Child> {
  const file = join(options.folder, `${name}.conf`)
  const nginx = name === 'nginx'
  writeFileSync(file, nginx ? nginxConfiguration(options) : haproxyConfiguration(options))
  const args = nginx ? ['-e', 'stderr', '-p', options.folder, '-c', file] : ['-db', '-f', file]
  const child = new Child(`/usr/sbin/${name}`, args)
  const limit = performance.now() + startLimitMs
  while (!(await listens(options.port))) {
    if (performance.now() > limit) throw new Error(`${name} does not listen`)
    await sleep(50)
  }
  return child
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
