/**
 * The dashboard and the alert rules: every query names existing metrics and labels, and Prometheus'
 * own tool finds no fault in rules and metrics.
 *
 * Tests with `promtool` are skipped without it (Debian's package `prometheus`).
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { noStats } from '../../src/engine/stats.js'
import type { RunnerReport } from '../../src/runner/supervision.js'
import { Tracer } from '../../src/trace/tracer.js'
import { post } from '../helpers/asking.js'
import { requestsAbout, postBatch } from '../helpers/batch.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { ofWorkspaces, stubDecider, withServer } from '../helpers/stub.js'

const folder = join(root, 'scripts/deploy/monitoring')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

const runner: RunnerReport = {
  ...{ model: 'a', replica: 0, ready: true, retryAfterMs: 0, pid: 1 },
  ...{ ends: { SIGKILL: 1 }, restarts: 1, askedAgain: 0, gaveUp: 0 },
  usage: () => ({ residentBytes: 1, ownBytes: 1, cpuMs: 1 }),
}

/** The metrics of a server that has all parts. */
async function everyMetric(): Promise<string> {
  const decider = {
    ...stubDecider(),
    engines: () => [{ model: 'a', replica: 0, stats: noStats() }],
  }
  let text = ''
  const options = {
    backend: { state: () => 'ready' as const, decider: () => decider, runners: () => [runner] },
    machine: { dataDir: root, certificateEndMs: () => Date.now() },
    tracing: {
      tracer: new Tracer({ add: () => {}, samplePercent: 100 }),
      exporter: { sent: 1, lost: 1 },
    },
  }
  await withServer({ ...options, admissionOf: ofWorkspaces }, async (server) => {
    t.equal((await post(server)).status, 200)
    t.equal((await postBatch(server, requestsAbout(['x']))).status, 200)
    text = await (await fetch(`${server.url}/metrics`)).text()
  })
  return text
}

/** Names and labels of all samples. */
function vocabularyOf(metrics: string) {
  const names = new Map<string, Set<string>>([['up', new Set()]])
  for (const { samples } of readPrometheus(metrics).values()) {
    for (const sample of samples.keys()) {
      const [, name, labels = ''] = /^([^{]+)(\{.*\})?$/.exec(sample)!
      const known = names.get(name!) ?? new Set()
      for (const [, label] of labels.matchAll(/([a-z_]+)="/g)) known.add(label!)
      names.set(name!, known)
    }
  }
  return names
}

/** Prometheus adds these to every sample. */
const given = ['instance', 'job']
const words =
  /^(?:by|on|ignoring|without|group_left|group_right|or|and|unless|bool|offset|inf|nan)$/i

/** Names in a query that do not exist. */
function unknownIn(query: string, metrics: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const unknown: string[] = []
  const found = new Set<string>(given)
  const bare = query.replaceAll(/\[[^\]]*\]/g, '')
  for (const [, name, matchers = ''] of bare.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})/g)) {
    const labels = metrics.get(name!) ?? []
    for (const [, label] of matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)) {
      if (![...labels, ...given].includes(label!)) unknown.push(`${name}{${label}}`)
    }
  }
  const lists: string[] = []
  const rest = bare
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\b(?:by|on|ignoring|without)\s*\(([^)]*)\)/g, (_, list: string) => {
      lists.push(...list.split(',').map((label) => label.trim()))
      return ''
    })
  for (const [, name] of rest.matchAll(/(?<![\w$.])([a-zA-Z_:][\w:]*)(?!\w|\s*\()/g)) {
    if (words.test(name!)) continue
    const labels = metrics.get(name!)
    if (labels === undefined) unknown.push(name!)
    else for (const label of labels) found.add(label)
  }
  return [...unknown, ...lists.filter((label) => !found.has(label))]
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const metrics = await everyMetric()
const vocabulary = vocabularyOf(metrics)

t.test('a query with a name that does not exist is detected', async (t) => {
  t.strictSame(unknownIn('rate(oi_http_requests_total{status="1"}[5m]) / nothing', vocabulary), [
    'nothing',
  ])
  t.strictSame(unknownIn('sum by (colour) (oi_ready{shape="x"})', vocabulary), [
    'oi_ready{shape}',
    'colour',
  ])
})

t.test('every query of the dashboard names existing metrics and labels', async (t) => {
  const { panels, templating } = JSON.parse(read('dashboard.json')) as {
    panels: Panel[]
    templating: { list: { name: string; query: string }[] }
  }
  let queries = 0
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) {
      queries++
      t.strictSame(unknownIn(expr, vocabulary), [], `${title}: ${expr}`)
    }
  }
  t.ok(queries > 30, `${queries} queries`)
  for (const { name, query } of templating.list) {
    const [, metric] = /^label_values\((.*), \w+\)$/.exec(query) ?? []
    if (metric !== undefined) t.strictSame(unknownIn(metric, vocabulary), [], name)
  }
  // Names of panels repeat in links and alerts.
  const titles = panels.map(({ title }) => title)
  t.equal(new Set(titles).size, titles.length)
})

t.test('every alert names existing metrics and labels, and says what to do', async (t) => {
  const alerts = read('alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1)
  t.ok(alerts.length > 10)
  for (const alert of alerts) {
    const [, expr] = /^ {8}expr: (?:>-\n)?([^]*?)\n {8}\w/m.exec(alert)!
    const [name] = alert.split('\n', 1)
    t.strictSame(unknownIn(expr!, vocabulary), [], name!)
    t.match(alert, /summary: .*\n {10}description: /, name!)
  }
})

t.test('every alert has a test that shows when it fires', async (t) => {
  const names = [...read('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const fired = [
    ...read('alerts.test.yml').matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/g),
  ].map(([, name]) => name)
  t.strictSame([...new Set(fired)].sort(), names.sort())
})

const promtool = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { cwd: folder, input, encoding: 'utf8' })
const skip = promtool(['--version']).error ? 'promtool is not installed' : false

t.test('promtool accepts the metrics', { skip }, async (t) => {
  // Their names are others', and have the colon that promtool wants to leave to rules.
  const own = metrics.split('\n').filter((line) => !/^(?:# \w+ )?vllm:/.test(line))
  const { status, stdout, stderr } = promtool(['check', 'metrics'], own.join('\n'))
  t.equal(status, 0, stdout + stderr)
  t.equal(stdout + stderr, '')
})

t.test(
  'promtool accepts the rules, and they fire as expected',
  {
    skip,
  },
  async (t) => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
      ['check', 'config', '--syntax-only', 'prometheus.yml'],
    ]) {
      const { status, stdout, stderr } = promtool(args)
      t.equal(status, 0, stdout + stderr)
    }
  },
)
