/**
 * Three nodes on machines of their own (network namespaces), HAProxy before them with the file that
 * operators copy, PostgreSQL and Redis beside: `npm run test:fleet`, as root. It takes some five
 * minutes. OI_TEST_REQUESTS, OI_TEST_KILLS and OI_TEST_PARTITION_MS make it shorter.
 */
import t, { type Test } from 'tap'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBalanced } from '../helpers/audit.js'
import { Fleet } from '../helpers/fleet.js'
import { Network, noNetwork } from '../helpers/network.js'
import { startHaproxy } from '../helpers/nodes.js'
import { noPostgres } from '../helpers/postgres.js'
import { findProxy } from '../helpers/proxies.js'
import { createRandom } from '../helpers/random.js'
import { RedisServer, withoutRedis } from '../helpers/redis-server.js'
import { until } from '../helpers/until.js'

const requests = Number(process.env['OI_TEST_REQUESTS'] ?? 100_000)
const kills = Number(process.env['OI_TEST_KILLS'] ?? 20)
const partitionMs = Number(process.env['OI_TEST_PARTITION_MS'] ?? 60_000)
const skip =
  process.env['OI_TEST_FLEET'] === undefined
    ? 'npm run test:fleet'
    : noNetwork || noPostgres || withoutRedis || (!findProxy('haproxy') && 'haproxy is missing')
const options = { skip, timeout: 900_000 }

class Whole {
  readonly fleet: Fleet
  readonly network: Network
  readonly redis: RedisServer
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 48 })
  /** Replies by their status, or the error of a connection; those of HAProxy alone by its name. */
  seen: Record<string, number> = {}

  static async start(t: Test): Promise<Whole> {
    const network = Network.start(t, 3)
    const at = { address: Network.other, network: Network.range }
    const fleet = await Fleet.start(t, 0, true, at)
    const redis = await RedisServer.start(t, Network.own)
    for (const i of [0, 1, 2]) {
      await fleet.add({
        ...{ host: Network.address(i), through: network.on(i), postgresHost: Network.other },
        args: ['--trusted-proxies', Network.own, '--limits', redis.url],
      })
    }
    const port = await startHaproxy(t, fleet.nodes)
    const whole = new Whole(fleet, network, redis, port)
    t.teardown(() => whole.#agent.destroy())
    await until(async () => (await whole.ask()) === 200)
    return whole
  }

  private constructor(fleet: Fleet, network: Network, redis: RedisServer, port: number) {
    this.fleet = fleet
    this.network = network
    this.redis = redis
    this.#port = port
  }

  /** One decision through HAProxy. @returns Its status; 0 if the connection ended. */
  ask(secret = this.fleet.secret): Promise<number> {
    return new Promise((resolve) => {
      const note = (what: string, status: number) => {
        this.seen[what] = (this.seen[what] ?? 0) + 1
        resolve(status)
      }
      const sent = request(
        {
          ...{ host: '127.0.0.1', port: this.#port, path: '/v1/systemone', method: 'POST' },
          agent: this.#agent,
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        },
        (reply) => {
          const by = reply.headers['x-request-id'] === undefined ? ' (HAProxy)' : ''
          reply.on('error', () => note('broken', 0))
          reply.on('end', () => note(`${reply.statusCode}${by}`, reply.statusCode!)).resume()
        },
      )
      sent.on('error', (error: NodeJS.ErrnoException) => note(error.code ?? 'error', 0))
      sent.end('{}')
    })
  }

  /** @returns Ends it. */
  load(clients: number): () => Promise<void> {
    let going = true
    const client = async () => {
      while (going) if ((await this.ask()) !== 200) await sleep(10)
    }
    const all = Promise.all(Array.from({ length: clients }, client))
    return async () => {
      going = false
      await all
    }
  }

  async expectBooked(t: Test): Promise<void> {
    const answered = this.seen['200'] ?? 0
    await until(() => this.fleet.audit().booked >= answered)
    await sleep(2000)
    const audit = this.fleet.audit()
    const unread = Object.entries(this.seen)
      .filter(([what]) => !/^\d+$/.test(what))
      .reduce((sum, [, count]) => sum + count, 0)
    t.comment(JSON.stringify({ seen: this.seen, booked: audit.booked }))
    t.ok(isBalanced(audit))
    t.ok(audit.booked >= answered && audit.booked <= answered + unread, 'once each')
  }
}

t.test('limits are exact over all nodes, and every answer is booked', options, async (t) => {
  const whole = await Whole.start(t)
  const limit = requests / 5
  whole.fleet.accounts.terms.setLimits(whole.fleet.workspaceId, { requestsPerMinute: limit })
  // Until the answers of the start are out of the minute, and all nodes know the limit.
  await sleep(61_000)
  const before = whole.seen['200']!
  const startedMs = performance.now()
  let left = requests
  const client = async () => {
    while (left-- > 0) await whole.ask()
  }
  await Promise.all(Array.from({ length: 48 }, client))
  const seconds = (performance.now() - startedMs) / 1000
  t.comment(`${requests} requests in ${seconds.toFixed(1)} s`)
  t.ok(seconds < 60, 'within a minute')
  t.equal(whole.seen['200']! - before, limit)
  t.equal(whole.seen['429'], requests - limit)
  await whole.expectBooked(t)
})

t.test('a revoked key is refused on all nodes within a second', options, async (t) => {
  const whole = await Whole.start(t)
  const end = whole.load(6)
  const took: number[] = []
  for (let i = 0; i < 10; i++) {
    const key = whole.fleet.accounts.createKey('default', `key ${i}`)
    for (const node of whole.fleet.nodes) t.equal(await whole.fleet.ask(node, key.secret), 200)
    whole.seen['200'] = (whole.seen['200'] ?? 0) + 3
    whole.fleet.accounts.keys.revoke(key.id)
    const revokedMs = performance.now()
    for (const node of whole.fleet.nodes) {
      for (;;) {
        const status = await whole.fleet.ask(node, key.secret)
        if (status === 401) break
        if (status === 200) whole.seen['200']++
      }
    }
    took.push(Math.round(performance.now() - revokedMs))
  }
  await end()
  t.comment(`refused after ${took.join(', ')} ms`)
  t.ok(Math.max(...took) < 1000)
  await whole.expectBooked(t)
})

t.test(
  `${kills} kills each of a node, of PostgreSQL and of Redis, under load`,
  options,
  async (t) => {
    const whole = await Whole.start(t)
    const { fleet, redis } = whole
    const random = createRandom(Date.now())
    const end = whole.load(24)
    for (let kill = 0; kill < kills; kill++) {
      await sleep(400)
      await fleet.postgres.kill()
      await sleep(random.integer(1500))
      await fleet.postgres.run()
      await sleep(400)
      await redis.kill()
      await sleep(random.integer(500))
      await redis.start()
      await sleep(400)
      const node = random.pick(fleet.nodes)
      node.server.child.kill('SIGKILL')
      await node.server.exited
      await node.restart()
    }
    await sleep(2000)
    await end()
    await whole.expectBooked(t)
    const statuses = Object.keys(whole.seen).filter((what) => /^\d+$/.test(what))
    const others = statuses.filter((status) => !['200', '429', '503'].includes(status))
    t.strictSame(others, [])
  },
)

t.test(`${partitionMs / 1000} s between a node and PostgreSQL`, options, async (t) => {
  const whole = await Whole.start(t)
  const { fleet, network } = whole
  const key = fleet.accounts.createKey('default', 'other')
  for (const node of fleet.nodes) t.equal(await fleet.ask(node, key.secret), 200)
  const end = whole.load(12)
  await sleep(1000)
  network.cut(1)
  await sleep(partitionMs)
  t.equal(await fleet.ask(fleet.nodes[1]!, key.secret), 200)
  fleet.accounts.keys.revoke(key.id)
  network.mend(1)
  const mendedMs = performance.now()
  await until(async () => (await fleet.ask(fleet.nodes[1]!, key.secret)) === 401)
  const tookMs = performance.now() - mendedMs
  t.comment(`refused ${Math.round(tookMs)} ms after it`)
  t.ok(tookMs < 5000)
  await end()
  whole.seen['200'] = (whole.seen['200'] ?? 0) + fleet.count(200)
  await whole.expectBooked(t)
})
