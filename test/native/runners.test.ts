/** Models in their own processes, as in `oi serve`: the cost of their crashes, and to whom. */
import t, { type Test } from 'tap'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from '../../scripts/bench/proc.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { RunningCommand } from '../helpers/command.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { until } from '../helpers/until.js'
import { decidePath, post } from '../helpers/asking.js'
import { firstKey } from '../helpers/data-folder.js'

const poison = 'this text ends the process'
const credits = 900_000_000_000_000
const skip = process.platform !== 'linux' && 'processes are found in /proc'

interface Served {
  readonly command: RunningCommand
  readonly url: string
  readonly dataDir: string
  post(path: string, body: string): Promise<Response>
  ask(state: string, model?: string): Promise<Response>
  status(path: string): Promise<number>
}

/** A server of the models `one`, the default, and `two`, which has its own file. */
async function serve(t: Test, ...args: string[]): Promise<Served & { readonly file: string }> {
  const dir = t.testdir()
  const dataDir = join(dir, 'data')
  const { secret: key } = firstKey(dataDir, (accounts, id) => {
    accounts.terms.setLimits(id, { requestsPerMinute: 0, concurrent: 0 })
    accounts.credits.add(id, credits)
    accounts.prices.set('one', { input: 1_000_000, output: 1_000_000 })
  })
  const file = join(dir, 'two.gguf')
  copyFileSync(defaultModelPath, file)
  const config = join(dir, 'oi.json')
  const models = [
    { file: defaultModelPath, name: 'one' },
    { file, name: 'two' },
  ]
  writeFileSync(config, JSON.stringify({ port: 0, dataDir, models, hostCacheMb: 16 }))
  const command = new RunningCommand(['serve', '--config', config, ...args], undefined, {
    OI_TEST_RUNNER_ABORT: poison,
  })
  t.teardown(() => command.process.kill('SIGKILL'))
  const [, url] = await command.match(/Listening on (http:\S+)/)
  await command.match(/^Ready$/m)
  const send = (path: string, body: string) => post({ url: url!, key }, body, {}, path)
  return {
    ...{ command, url: url!, dataDir, file },
    post: send,
    ask: (state, model) => send(decidePath, bodyOf(state, model)),
    status: async (path) => (await fetch(url + path)).status,
  }
}

function bodyOf(state: string, model?: string): string {
  const questions = { q: { type: 'noul', instructions: 'Is it so?' } }
  return JSON.stringify({ state, questions, model })
}

async function metric({ url }: Served, sample: string): Promise<number | undefined> {
  const metrics = readPrometheus(await (await fetch(`${url}/metrics`)).text())
  return metrics.get(sample.replace(/\{.*/, ''))!.samples.get(sample)
}

t.test('each model has a process, which the start line names', { skip }, async (t) => {
  const served = await serve(t)
  const { stdout, process: front } = served.command
  const named = [...stdout.matchAll(/^Model .* process (\d+)$/gm)].map(([, pid]) => Number(pid))
  t.equal(named.length, 2)
  t.strictSame(childrenOf(front.pid!), named)
  for (const name of ['one', 'two']) {
    t.equal(await metric(served, `oi_runner_up{model="${name}"}`), 1)
    t.ok((await metric(served, `oi_runner_resident_memory_bytes{model="${name}"}`))! > 10_000_000)
  }
  front.kill('SIGTERM')
  t.equal(await served.command.exited, 0)
  for (const pid of named) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

t.test('with --in-process a model has none', { skip }, async (t) => {
  const served = await serve(t, '--in-process')
  t.strictSame(childrenOf(served.command.process.pid!), [])
  t.notMatch(served.command.stdout, /process \d/)
  t.equal((await served.ask('A')).status, 200)
  t.equal(await metric(served, 'oi_runner_up{model="one"}'), undefined)
})

t.test(
  'a request that ends the process twice is answered 500, and 1,000 beside it 200',
  { skip, timeout: 300_000 },
  async (t) => {
    const served = await serve(t)
    let left = 1000
    const statuses: number[] = []
    const client = async () => {
      while (left-- > 0) {
        const reply = await served.ask(`state ${left}`)
        await reply.text()
        statuses.push(reply.status)
      }
    }
    const others = Promise.all(Array.from({ length: 16 }, client))
    await served.command.until(() => statuses.length >= 300)
    const bad = await served.ask(`${poison} quagga`)
    t.equal(bad.status, 500)
    await bad.text()
    await others
    t.strictSame([...new Set(statuses)], [200])
    t.equal(statuses.length, 1000)

    t.equal(await metric(served, 'oi_runner_ends_total{model="one",cause="SIGABRT"}'), 2)
    t.equal(await metric(served, 'oi_requests_given_up_total{model="one"}'), 1)
    t.ok((await metric(served, 'oi_requests_asked_again_total{model="one"}'))! >= 1)

    const id = bad.headers.get('x-request-id')!
    const digest = createHash('sha256')
      .update(bodyOf(`${poison} quagga`))
      .digest('hex')
    const fault = JSON.parse((await served.command.match(/^.*"fault".*$/m))[0]) as object
    t.match(fault, { id, fault: /ended twice/, digest: digest.slice(0, 16) })
    const folder = join(served.dataDir, 'crashes')
    const reports = readdirSync(folder).sort()
    t.equal(reports.length, 2)
    for (const name of reports) {
      t.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
      const text = readFileSync(join(folder, name), 'utf8')
      t.notMatch(text, /quagga|state \d/, 'no texts')
      const { inside, ...report } = JSON.parse(text) as { inside: { requestId?: string }[] }
      t.match(report, { model: 'one', cause: 'SIGABRT', lastWords: [String] })
      t.match(
        inside.find(({ requestId }) => requestId === id),
        { kind: 'score', questions: 1, ends: reports.indexOf(name) + 1 },
      )
      await served.command.match(new RegExp(`process of model one ended.*${name}`))
    }
    const second = JSON.parse(readFileSync(join(folder, reports[1]!), 'utf8')) as object
    t.match(second, { insideCount: 1 }, 'it was alone')

    served.command.process.kill('SIGINT')
    t.equal(await served.command.exited, 0)
    const books = audit(served.dataDir)
    t.ok(isBalanced(books), JSON.stringify(books))
    t.equal(books.booked, 1000)
  },
)

t.test(
  'of a batch, the item that ends the process fails, and no other item',
  { skip },
  async (t) => {
    const served = await serve(t)
    const states = Array.from({ length: 40 }, (_, i) => (i === 17 ? poison : `state ${i}`))
    const body = JSON.stringify({ states, questions: JSON.parse(bodyOf('')).questions as object })
    const reply = await served.post('/v1/systemone/batch', body)
    const { results } = (await reply.json()) as { results: { status: number }[] }
    const statuses = results.map(({ status }) => status)
    t.strictSame(
      statuses,
      states.map((state) => (state === poison ? 500 : 200)),
    )
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 16)
    await served.command.match(new RegExp(`"fault".*"digest":"${digest}"`))
  },
)

t.test(
  'while a model has no process, only /readyz and its requests show it',
  { skip },
  async (t) => {
    const served = await serve(t)
    const { command, file } = served
    const [, pid] = /^Model two .* process (\d+)$/m.exec(command.stdout)!
    renameSync(file, `${file}.away`)
    process.kill(Number(pid), 'SIGKILL')
    await command.match(/Model two could not be loaded again/)
    const ready = await fetch(`${served.url}/readyz`)
    t.equal(ready.status, 503)
    t.ok(Number(ready.headers.get('retry-after')) >= 1)
    t.match(await ready.json(), {
      error: { code: 'overloaded', message: /: two( \(its file is gone\))?$/ },
    })
    t.equal(await served.status('/healthz'), 200)
    t.equal((await served.ask('A', 'one')).status, 200)
    const refused = await served.ask('A', 'two')
    t.equal(refused.status, 503)
    t.match(await refused.json(), { error: { code: 'overloaded' } })
    t.ok(Number(refused.headers.get('retry-after')) >= 1)
    t.equal(await metric(served, 'oi_runner_up{model="one"}'), 1)
    t.equal(await metric(served, 'oi_runner_up{model="two"}'), 0)

    renameSync(`${file}.away`, file)
    await command.match(/Model two is back/)
    await until(async () => (await served.status('/readyz')) === 200)
    t.equal((await served.ask('A', 'two')).status, 200)
    t.equal(await metric(served, 'oi_runner_restarts_total{model="two"}'), 1)
  },
)

t.test('the end of a server does not wait for a model without a process', { skip }, async (t) => {
  const { command, file } = await serve(t)
  const [, pid] = /^Model two .* process (\d+)$/m.exec(command.stdout)!
  renameSync(file, `${file}.away`)
  process.kill(Number(pid), 'SIGKILL')
  // By then the next start is seconds away.
  await command.match(/next attempt in (?:[2-9]\d{3}|\d{5}) ms/)
  const startMs = performance.now()
  command.process.kill('SIGTERM')
  t.equal(await command.exited, 0)
  t.ok(performance.now() - startMs < 1500)
})
