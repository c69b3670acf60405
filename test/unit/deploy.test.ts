/**
 * The files in scripts/deploy agree with the settings and with each other. proxies.test.ts and
 * `npm run deploy:check` show that they work.
 */
import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../../scripts/build/paths.js'
import { project } from '../../scripts/package/manifests.js'
import { settings } from '../../src/config.js'

const folder = join(root, 'scripts', 'deploy')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const standard = (name: string) =>
  String(settings.find((setting) => setting.name === name)!.default)

/** A number in a file. */
function number(name: string, pattern: RegExp): number {
  const found = pattern.exec(read(name))
  if (found === null) throw new Error(`${name} has no ${pattern.source}`)
  return Number(found[1])
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
}

interface StatefulSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly securityContext: Readonly<Record<string, unknown>>
        readonly containers: readonly [Container]
      }
    }
  }
}

interface Compose {
  readonly services: {
    readonly oi: {
      readonly ports: readonly string[]
      readonly environment: Readonly<Record<string, string>>
      readonly stop_grace_period: string
    }
  }
}

const pod = (parse(read('kubernetes/statefulset.yaml')) as StatefulSet).spec.template.spec
const [container] = pod.containers
const service = (parse(read('compose.yaml')) as Compose).services.oi
const dockerfile = read('Dockerfile')
const image = Object.fromEntries(
  [...dockerfile.matchAll(/\b(OI_[A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
)

t.test('every variable belongs to a setting', async (t) => {
  // The last is a variable of clients.
  const known = [...settings.map(({ variable }) => variable), 'OI_KEY']
  const named = [
    ...container.env.map(({ name }) => name),
    ...Object.keys(service.environment),
    ...['Dockerfile', 'systemd/oi.service', 'README.md', 'probe.mjs'].flatMap(
      (name) => read(name).match(/\bOI_[A-Z_]+/g) ?? [],
    ),
  ]
  const unknown = named.filter((name) => !known.includes(name))
  t.strictSame(unknown, [])
})

t.test('every flag in the guide and the proxies belongs to a setting or a command', async (t) => {
  const known = settings.map(({ flag }) => flag)
  const names = [
    'systemd/oi.service',
    ...readdirSync(join(folder, 'proxies')).map((name) => `proxies/${name}`),
  ]
  const flags = names.flatMap((name) => read(name).match(/(?<!\S)\(?--[a-z-]+/g) ?? [])
  t.ok(flags.length > 0)
  for (const flag of flags) t.ok(known.includes(flag.replace('(', '')), flag)
})

t.test('supervisors wait longer than a server takes to end', async (t) => {
  const tookMs = Number(standard('drainMs')) + Number(standard('graceMs'))
  t.ok(1000 * parseInt(service.stop_grace_period) > tookMs, 'compose')
  t.ok(1000 * number('README.md', /--stop-timeout (\d+)/) > tookMs, 'docker run')
  const of = (name: string) => Number(container.env.find((one) => one.name === name)!.value)
  const podMs = of('OI_DRAIN_MS') + of('OI_GRACE_MS')
  t.ok(1000 * pod.terminationGracePeriodSeconds > podMs, 'Kubernetes')
})

t.test('the server listens where its clients expect it', async (t) => {
  const port = standard('port')
  t.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'))
  t.strictSame(container.ports, [{ name: 'http', containerPort: Number(port) }])
  t.strictSame(service.ports, [`127.0.0.1:${port}:${port}`])
  for (const name of readdirSync(join(folder, 'proxies'))) {
    const address = new RegExp(`127\\.0\\.0\\.1(?::|, port_value: )${port}\\b`)
    t.match(read(`proxies/${name}`), address, name)
  }
  t.match(image, { OI_HOST: '0.0.0.0', OI_DATA_DIR: '/data' })
})

t.test('the user of the image is that of the pod, and not root', async (t) => {
  const user = /^USER (\d+):(\d+)$/m.exec(dockerfile)!
  t.match(dockerfile, `--uid ${user[1]}`)
  t.match(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: Number(user[1]),
    runAsGroup: Number(user[2]),
    fsGroup: Number(user[2]),
  })
})

t.test('the build context holds what the Dockerfile copies, and no more', async (t) => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    names!.split(' ').map((name) => name.split('/')[0]!),
  )
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
  const sent = [...ignored.matchAll(/^!(.+)$/gm)].map(([, name]) => name!)
  t.match(ignored, /^\*$/m)
  t.strictSame(sent.sort(), [...new Set(copied)].sort())
})

t.test('Kubernetes runs the image of this version', async (t) => {
  t.match(parse(read('kubernetes/kustomization.yaml')), {
    images: [{ name: 'oi', newTag: project.version }],
  })
})

t.test("the times of the proxies fit the server's", async (t) => {
  const deadlineS = Number(standard('batchDeadlineMs')) / 1000
  const idleS = Number(standard('idleTimeoutMs')) / 1000
  t.ok(number('proxies/nginx.conf', /proxy_read_timeout (\d+)s/) > deadlineS)
  t.ok(number('proxies/nginx.conf', /keepalive_timeout (\d+)s/) < idleS)
  t.ok(number('proxies/Caddyfile', /keepalive (\d+)s/) < idleS)
  t.ok(number('proxies/haproxy.cfg', /timeout server (\d+)s/) > deadlineS)
  t.ok(number('proxies/envoy.yaml', /timeout: (\d{3})s/) > deadlineS)
  t.ok(number('proxies/envoy.yaml', /idle_timeout: (\d\d)s/) < idleS)
  for (const [name, failures, interval] of [
    ['haproxy.cfg', /fall (\d+)/, /inter (\d+)s/],
    ['envoy.yaml', /unhealthy_threshold: (\d+)/, / interval: (\d+)s/],
  ] as const) {
    const checks = number(`proxies/${name}`, failures)
    const everyMs = 1000 * number(`proxies/${name}`, interval)
    t.ok(checks * everyMs < Number(standard('drainMs')), `${name}: out before it stops`)
  }
})

t.test('the guide names every file, and is short', async (t) => {
  const guide = read('README.md')
  t.ok(Buffer.byteLength(guide) <= 20_480)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'README.md' || entry.name.endsWith('.ts')) continue
    t.match(guide, `(${entry.name}`, entry.name)
  }
})
