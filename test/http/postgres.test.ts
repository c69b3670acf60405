/**
 * Nodes whose accounts are in one PostgreSQL: what holds for all of them, and while it is gone.
 * OI_TEST_KILLS is the number of kills, 2 by default; OI_TEST_PARTITION_MS the time of a partition.
 */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBalanced } from '../helpers/audit.js'
import { Fleet } from '../helpers/fleet.js'
import { noPostgres } from '../helpers/postgres.js'
import { createRandom } from '../helpers/random.js'
import { SilentRelay } from '../helpers/silent-relay.js'
import { noDisk, smallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const kills = Number(process.env['OI_TEST_KILLS'] ?? 2)
const partitionMs = Number(process.env['OI_TEST_PARTITION_MS'] ?? 4000)
const options = { skip: noPostgres, timeout: 120_000 + 40_000 * kills + 3 * partitionMs }

/** Until all bookings are in PostgreSQL. */
async function delivered(fleet: Fleet, answers: number): Promise<void> {
  const endMs = performance.now() + 30_000
  while (fleet.audit().booked < answers) {
    if (performance.now() > endMs) {
      const said = fleet.nodes.map(({ server }) => server.said)
      throw new Error([`${fleet.audit().booked} of ${answers} are booked`, ...said].join('\n'))
    }
    await sleep(50)
  }
}

t.test(
  'a key that is revoked on one node is refused on all within a second',
  options,
  async (t) => {
    const fleet = await Fleet.start(t, 3)
    for (let round = 0; round < 5; round++) {
      const key = fleet.accounts.createKey('default', `round ${round}`)
      for (const node of fleet.nodes) t.equal(await fleet.ask(node, key.secret), 200)
      fleet.accounts.keys.revoke(key.id)
      const revokedMs = performance.now()
      for (const node of fleet.nodes) {
        await until(async () => (await fleet.ask(node, key.secret)) === 401)
      }
      const tookMs = performance.now() - revokedMs
      t.ok(tookMs < 1000, `${tookMs} ms`)
    }
  },
)

t.test('a balance is spent by all nodes together', options, async (t) => {
  const fleet = await Fleet.start(t, 3, false)
  t.equal(await fleet.ask(fleet.nodes[0]!), 200)
  await delivered(fleet, 1)
  const { cost } = fleet.audit()
  fleet.accounts.credits.add(fleet.workspaceId, 300 * cost)
  // Until all nodes have seen that answers are charged now.
  await sleep(1000)
  const end = fleet.load(6)
  await until(() => fleet.count(402) > 0)
  await sleep(1500)
  await end()
  const paid = fleet.count(200) - 1
  // Each node counts on what the others had not spent a moment ago.
  t.ok(paid >= 300, `${paid} answers`)
  const { balance, booked } = fleet.audit()
  t.equal(booked, paid + 1)
  t.equal(balance, (300 - paid) * cost)
  for (const node of fleet.nodes) t.equal(await fleet.ask(node), 402)
})

t.test(
  'the same key of a retry is charged once, whichever node it comes to',
  options,
  async (t) => {
    const fleet = await Fleet.start(t, 2)
    const [a, b] = fleet.nodes as [Fleet['nodes'][0], Fleet['nodes'][0]]
    for (let i = 0; i < 20; i++) {
      const both = await Promise.all([
        fleet.ask(a, fleet.secret, `k${i}`),
        fleet.ask(b, fleet.secret, `k${i}`),
      ])
      t.strictSame(both, [200, 200])
      t.equal(await fleet.ask(b, fleet.secret, `k${i}`), 200)
    }
    await delivered(fleet, 20)
    t.match(fleet.audit(), { booked: 20 })
    t.ok(isBalanced(fleet.audit()))
  },
)

for (const limited of [true, false]) {
  const what = limited ? 'a balance' : 'no balance'
  t.test(
    `without PostgreSQL, nodes answer keys that they know (${what}), and deliver later`,
    options,
    async (t) => {
      const fleet = await Fleet.start(t, 2, limited)
      const [a, b] = fleet.nodes as [Fleet['nodes'][0], Fleet['nodes'][0]]
      const unseen = fleet.accounts.createKey('default', 'unseen')
      for (const node of fleet.nodes) t.equal(await fleet.ask(node), 200)
      await fleet.postgres.kill()
      // A request whose booking was under way may be refused once.
      await until(async () => (await fleet.ask(a)) === 200 && (await fleet.ask(b)) === 200)
      await sleep(1500)
      for (let i = 0; i < 20; i++) t.equal(await fleet.ask(fleet.nodes[i % 2]!), 200)
      t.equal(await fleet.ask(a, unseen.secret), 503, 'a key that it has never seen')
      t.equal(await a.server.status('/readyz'), 200, 'within the time of grace')
      // Without a balance, a crash may lose what was booked in the last second.
      if (!limited) await sleep(1000)
      b.server.child.kill('SIGKILL')
      await b.server.exited
      await fleet.postgres.run()
      await b.restart()
      await delivered(fleet, fleet.count(200))
      await until(async () => (await fleet.ask(a, unseen.secret)) === 200)
      await delivered(fleet, fleet.count(200))
      const audit = fleet.audit()
      t.equal(audit.booked, fleet.count(200), 'nothing lost, nothing twice')
      t.ok(isBalanced(audit))
    },
  )
}

t.test('after the time of grace a node refuses, and is not ready', options, async (t) => {
  const fleet = await Fleet.start(t, 0)
  const node = await fleet.add({ args: ['--accounts-grace-ms', '2500'] })
  t.equal(await fleet.ask(node), 200)
  await fleet.postgres.kill()
  await until(async () => (await fleet.ask(node)) === 200)
  await until(
    async () => (await fleet.ask(node)) === 503 && (await node.server.status('/readyz')) === 503,
  )
  await sleep(500)
  t.equal(await fleet.ask(node), 503)
  await fleet.postgres.run()
  await until(async () => (await fleet.ask(node)) === 200)
  await delivered(fleet, fleet.count(200))
  t.equal(fleet.audit().booked, fleet.count(200))
})

t.test(`kill -9 of PostgreSQL and of nodes, ${kills} times each under load`, options, async (t) => {
  const fleet = await Fleet.start(t, 3)
  for (const node of fleet.nodes) await fleet.ask(node)
  const random = createRandom(Date.now())
  const end = fleet.load(12)
  for (let kill = 0; kill < kills; kill++) {
    await sleep(300 + random.integer(700))
    await fleet.postgres.kill()
    await sleep(random.integer(2000))
    await fleet.postgres.run()
    await sleep(300 + random.integer(700))
    const node = random.pick(fleet.nodes)
    node.server.child.kill('SIGKILL')
    await node.server.exited
    await node.restart()
  }
  await sleep(1000)
  await end()
  const answered = fleet.count(200)
  const lost = fleet.count('lost')
  await delivered(fleet, answered)
  await sleep(1500)
  const audit = fleet.audit()
  t.comment(JSON.stringify({ seen: Object.fromEntries(fleet.seen), booked: audit.booked }))
  t.ok(isBalanced(audit))
  // A node that is killed may have booked what its client did not read.
  t.ok(audit.booked >= answered && audit.booked <= answered + lost, `${audit.booked} booked`)
  t.strictSame(
    [...fleet.seen.keys()].filter((name) => !['200', '429', '503', 'lost'].includes(name)),
    [],
  )
})

t.test('a partition: the node goes on, and delivers what it has booked', options, async (t) => {
  const fleet = await Fleet.start(t, 1)
  const relay = await SilentRelay.start(t, fleet.postgres.port)
  const cut = await fleet.add({ port: relay.port })
  for (const node of fleet.nodes) t.equal(await fleet.ask(node), 200)
  const key = fleet.accounts.createKey('default', 'other')
  for (const node of fleet.nodes) t.equal(await fleet.ask(node, key.secret), 200)
  relay.silence()
  const end = fleet.load(4)
  await sleep(partitionMs)
  t.equal(await fleet.ask(cut, key.secret), 200)
  fleet.accounts.keys.revoke(key.id)
  await end()
  relay.resume()
  const resumedMs = performance.now()
  await until(async () => (await fleet.ask(cut, key.secret)) === 401)
  const tookMs = performance.now() - resumedMs
  t.comment(`refused ${Math.round(tookMs)} ms after the partition`)
  t.ok(tookMs < 5000)
  await delivered(fleet, fleet.count(200))
  const audit = fleet.audit()
  t.comment(JSON.stringify({ seen: Object.fromEntries(fleet.seen), booked: audit.booked }))
  t.equal(audit.booked, fleet.count(200))
  t.ok(isBalanced(audit))
})

t.test('connections that die silently cost a moment, and no revocation', options, async (t) => {
  const fleet = await Fleet.start(t, 0)
  const relay = await SilentRelay.start(t, fleet.postgres.port)
  const node = await fleet.add({ port: relay.port })
  const took: number[] = []
  // A machine that is busy with other tests takes longer now and then, and never less.
  while (took.length < 10 && !took.some((ms) => ms < 1500)) {
    const key = fleet.accounts.createKey('default', `other ${took.length}`)
    t.equal(await fleet.ask(node, key.secret), 200)
    relay.silencePresent()
    fleet.accounts.keys.revoke(key.id)
    const silencedMs = performance.now()
    await until(async () => (await fleet.ask(node, key.secret)) === 401)
    took.push(Math.round(performance.now() - silencedMs))
    await until(async () => (await fleet.ask(node)) === 200)
  }
  t.ok(Math.min(...took) < 1500, `${took.join(', ')} ms`)
  await delivered(fleet, fleet.count(200))
  t.equal(fleet.audit().booked, fleet.count(200))
})

// BUG, never released: without a pause, as long as its connection stood.
t.test('a node whose look for changes is refused asks no oftener for that', options, async (t) => {
  const fleet = await Fleet.start(t, 1)
  const rename = (from: string, to: string) =>
    fleet.postgres.sql(`ALTER TABLE oi.${from} RENAME TO ${to}`, 'oi1')
  const refused = () =>
    Number(fleet.postgres.sql("SELECT xact_rollback FROM pg_stat_database WHERE datname = 'oi1'"))
  t.equal(await fleet.ask(fleet.nodes[0]!), 200)
  rename('tally', 'away')
  await sleep(3000)
  const count = refused()
  t.ok(count > 0 && count < 100, `${count} in three seconds`)
  rename('away', 'tally')
  await until(async () => (await fleet.ask(fleet.nodes[0]!)) === 200)
})

t.test(
  'without PostgreSQL and with full disks, nothing is charged that was refused',
  { ...options, skip: noPostgres || noDisk },
  async (t) => {
    const fleet = await Fleet.start(t, 0)
    const folder = smallDisk(t)
    const node = await fleet.add({ folder })
    t.equal(await fleet.ask(node), 200)
    try {
      for (let i = 0; ; i++) writeFileSync(join(folder, `fill${i}`), Buffer.alloc(65_536))
    } catch {
      // It is full.
    }
    await fleet.postgres.kill()
    await until(async () => (await fleet.ask(node)) === 503)
    for (let i = 0; i < 5; i++) t.equal(await fleet.ask(node), 503)
    await fleet.postgres.run()
    await until(async () => (await fleet.ask(node)) === 200)
    await delivered(fleet, fleet.count(200))
    await sleep(1500)
    t.equal(fleet.audit().booked, fleet.count(200))
    t.ok(isBalanced(fleet.audit()))
  },
)
