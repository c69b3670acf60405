/** nginx and HAProxy in front of the server, with their default settings. */
import t, { type Test } from 'tap'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { Agent, get } from 'node:http'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withServer } from '../helpers/stub.js'
import { vacantPort } from '../helpers/vacant-port.js'

const requests = 2000
const clients = 16

/** Where Debian has it; a machine without it says so in the report. */
const find = (name: string) => [`/usr/sbin/${name}`, `/usr/bin/${name}`].find(existsSync)

const nginxSettings = (dir: string, front: number, back: number) => `
pid ${dir}/nginx.pid;
error_log ${dir}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  server {
    listen 127.0.0.1:${front};
    location / { proxy_pass http://127.0.0.1:${back}; }
  }
}`

const haproxySettings = (front: number, back: number) => `
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend front
  bind 127.0.0.1:${front}
  default_backend back
backend back
  option httpchk
  server oi 127.0.0.1:${back} check inter 100
`

async function through(
  t: Test,
  start: (dir: string, front: number, back: number) => ChildProcess,
): Promise<void> {
  await withServer({}, async ({ port, key }) => {
    const front = await vacantPort()
    const proxy = start(t.testdir(), front, port)
    t.teardown(() => proxy.kill('SIGTERM'))
    const url = `http://127.0.0.1:${front}`
    for (let i = 0; (await statusOf(`${url}/healthz`)) !== 200; i++) {
      if (i === 500) throw new Error('the proxy does not come up')
      await sleep(20)
    }
    const counts = new Map<number, number>()
    const ask = async () => {
      for (let i = 0; i < requests / clients; i++) {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const reply = await fetch(`${url}/v1/systemone`, { method: 'POST', headers, body: '{}' })
        await reply.arrayBuffer()
        counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: clients }, ask))
    t.strictSame([...counts], [[200, requests]])
    t.equal((await fetch(`${url}/v1/models`)).status, 401)
    const exited = new Promise((resolve) => proxy.once('exit', resolve))
    proxy.kill('SIGTERM')
    await exited
  })
}

const agent = new Agent()
const statusOf = (url: string) =>
  new Promise<number | undefined>((resolve) => {
    get(url, { agent }, (reply) => {
      reply.resume()
      resolve(reply.statusCode)
    }).once('error', () => resolve(undefined))
  })

const nginx = find('nginx')
t.test(
  `nginx: ${requests} requests by its plain proxy_pass are all answered`,
  { skip: nginx === undefined && 'nginx is not installed' },
  (t) =>
    through(t, (dir, front, back) => {
      const file = join(dir, 'nginx.conf')
      writeFileSync(file, nginxSettings(dir, front, back))
      return spawn(nginx!, ['-c', file, '-g', 'daemon off; master_process off;'], {
        stdio: 'ignore',
      })
    }),
)

const haproxy = find('haproxy')
t.test(
  `HAProxy: ${requests} requests behind its plain health check are all answered`,
  { skip: haproxy === undefined && 'HAProxy is not installed' },
  (t) =>
    through(t, (dir, front, back) => {
      const file = join(dir, 'haproxy.cfg')
      writeFileSync(file, haproxySettings(front, back))
      t.equal(spawnSync(haproxy!, ['-c', '-f', file]).status, 0)
      return spawn(haproxy!, ['-db', '-f', file], { stdio: 'ignore' })
    }),
)
