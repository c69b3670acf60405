/**
 * Several servers with the same keys behind a balancer that has the configuration which operators
 * copy (scripts/deploy/proxies), with a line for each.
 */
import { cpSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Test } from 'tap'
import { affinityHeader, affinityOf } from '../../src/client/affinity.js'
import { Accounts } from '../../src/accounts/accounts.js'
import { dataFolder } from './data-folder.js'
import { deployed } from './deployed-proxies.js'
import { certificate, send, textOf } from './https.js'
import { type Configuration, type ProxyName, startProxy } from './proxies.js'
import { ServerProcess } from './server-process.js'
import { until } from './until.js'
import { vacantPort } from './vacant-port.js'

const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }

/** The line or block of one server, which every further one repeats. */
const serverLines: Readonly<Record<ProxyName, (port: number) => RegExp>> = {
  nginx: (port) => new RegExp(`^ *server 127.0.0.1:${port};\\n`, 'm'),
  haproxy: (port) => new RegExp(`^ *server oi1 127.0.0.1:${port}\\n`, 'm'),
  caddy: (port) => new RegExp(` 127.0.0.1:${port}`),
  envoy: (port) => new RegExp(`^ *- endpoint: .*port_value: ${port} .*\\n`, 'm'),
}

/** @param ports - Of the servers; the first is the one that the file has already. */
function forNodes(name: ProxyName, ports: readonly number[]): Configuration {
  return (options) => {
    const text = deployed(name, certificate)(options)
    const line = serverLines[name](options.serverPort)
    if (!line.test(text)) throw new Error(`${name}: expected ${line}`)
    return text.replace(line, (first) =>
      ports
        .map((port, i) =>
          first.replace(String(options.serverPort), String(port)).replace('oi1', `oi${i + 1}`),
        )
        .join(''),
    )
  }
}

/**
 * HAProxy with the file that operators copy, but without TLS.
 *
 * @returns Its port.
 */
export async function startHaproxy(
  t: Test,
  nodes: readonly { readonly host: string; readonly port: number }[],
): Promise<number> {
  const port = await vacantPort()
  const ports = nodes.map((node) => node.port)
  const configuration: Configuration = (options) => {
    let text = forNodes('haproxy', ports)(options)
    for (const node of nodes) {
      text = text.replace(`127.0.0.1:${node.port}`, `${node.host}:${node.port}`)
    }
    return text.replace(/bind (127\.0\.0\.1:\d+) ssl.*/, 'bind $1')
  }
  const proxy = await startProxy('haproxy', configuration, {
    ...{ folder: t.testdir(), port, serverPort: ports[0]! },
  })
  t.teardown(() => proxy.stop())
  return port
}

interface Started {
  readonly model: string
  readonly args: readonly string[]
}

/**
 * Servers with the same keys and limits, each with a data folder of its own.
 *
 * @param options - What the `i`-th is started with.
 * @param prepare - Called with the accounts before the servers have them.
 */
export async function sameServers(
  t: Test,
  count: number,
  options: (i: number) => Started,
  prepare: (accounts: Accounts) => void = () => {},
) {
  const first = dataFolder(t)
  const accounts = new Accounts({ dataDir: first })
  const { secret: key } = accounts.createFirstKey()!
  prepare(accounts)
  accounts.close()
  const folders = [first, ...Array.from({ length: count - 1 }, () => dataFolder(t))]
  for (const folder of folders.slice(1)) cpSync(first, folder, { recursive: true })
  const servers: ServerProcess[] = []
  const ports: number[] = []
  for (const [i, dataDir] of folders.entries()) {
    const port = await vacantPort()
    const { model, args } = options(i)
    const all = ['--trusted-proxies', '127.0.0.1', ...args]
    const environment = { OI_DRAIN_MS: '3000' }
    servers.push(await ServerProcess.start(t, { model, dataDir, port, args: all, environment }))
    ports.push(port)
  }
  return { servers, ports, key }
}

class Nodes {
  readonly servers: readonly ServerProcess[]
  readonly #front: { readonly port: number; readonly key: string }

  /**
   * @param options - What the `i`-th server is started with.
   * @param more - Ports of further nodes.
   */
  static async start(
    t: Test,
    name: ProxyName,
    count: number,
    options: (i: number) => Started,
    more: readonly number[] = [],
  ): Promise<Nodes> {
    const { servers, ports, key } = await sameServers(t, count, options)
    const port = await vacantPort()
    const proxy = await startProxy(name, forNodes(name, [...ports, ...more]), {
      ...{ folder: t.testdir(), port, serverPort: ports[0]! },
    })
    t.teardown(() => proxy.stop())
    const nodes = new Nodes(servers, { port, key })
    if (more.length === 0) await until(async () => (await nodes.ask('ready?')).status === 200)
    return nodes
  }

  private constructor(
    servers: readonly ServerProcess[],
    front: { readonly port: number; readonly key: string },
  ) {
    this.servers = servers
    this.#front = front
  }

  /** @returns The model that answered, which says which node, and the reply's status. */
  async ask(state: string, affinity = true): Promise<{ status: number; model: string }> {
    const reply = await send(this.#front, {
      path: '/v1/systemone',
      headers: affinity ? { [affinityHeader]: affinityOf(state) } : {},
      body: JSON.stringify({ state, questions }),
    })
    const text = await textOf(reply)
    const { model } =
      reply.statusCode === 200 ? (JSON.parse(text) as { model: string }) : { model: text }
    return { status: reply.statusCode!, model }
  }
}

/**
 * A node that reads a request and closes the connection, and one that answers: what nginx meets on a
 * connection that it has kept while the node at its end stopped.
 */
export async function expectNextNode(t: Test, name: ProxyName): Promise<void> {
  const port = await vacantPort()
  let closed = 0
  const closing = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      closed++
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => closing.listen(port, '127.0.0.1', resolve))
  t.teardown(() => closing.close())
  const nodes = await Nodes.start(t, name, 1, () => ({ model: 'fake', args: [] }), [port])
  const statuses = new Set<number>()
  // A balancer that meets a failure leaves the node alone for a while.
  for (let i = 0; i < 20; i++) statuses.add((await nodes.ask(`Ticket ${i}`)).status)
  t.ok(closed > 0, `${closed} requests met the node that closes`)
  t.strictSame([...statuses], [200])
}

/** Of each state, the nodes that answered it. */
async function nodesOf(
  nodes: Nodes,
  states: readonly string[],
  rounds: number,
  affinity = true,
): Promise<Map<string, Set<string>>> {
  const found = new Map(states.map((state) => [state, new Set<string>()]))
  for (let round = 0; round < rounds; round++) {
    for (const state of states) {
      const { status, model } = await nodes.ask(state, affinity)
      if (status !== 200) throw new Error(`${status}: ${model}`)
      found.get(state)!.add(model)
    }
  }
  return found
}

/** What every balancer with its file must do. */
export async function expectOneNodeAState(t: Test, name: ProxyName): Promise<void> {
  const nodes = await Nodes.start(t, name, 3, (i) => ({
    model: 'fake',
    args: ['--model', `node${i + 1}.gguf`],
  }))
  // No multiple of three: a balancer that takes one node after another would not pass.
  const states = Array.from({ length: 31 }, (_, i) => `Ticket ${i * i} about the rain.`)
  const before = await nodesOf(nodes, states, 3)
  t.ok(
    [...before.values()].every(({ size }) => size === 1),
    'a state has one node',
  )
  const used = new Set([...before.values()].flatMap((set) => [...set]))
  t.equal(used.size, 3, 'states are spread over all nodes')
  const without = await nodesOf(nodes, states.slice(0, 5), 6, false)
  t.ok(
    [...without.values()].some(({ size }) => size > 1),
    'a request without the header has any',
  )

  const leaving = nodes.servers[1]!
  leaving.child.kill('SIGTERM')
  let ended = false
  void leaving.exited.then(() => (ended = true))
  const statuses = new Set<number>()
  while (!ended) {
    const state = states[Math.floor(Math.random() * states.length)]!
    statuses.add((await nodes.ask(state)).status)
  }
  // nginx does not look before it sends: on a connection that it has kept, it may meet the last moment.
  if (name === 'nginx') statuses.delete(503)
  t.strictSame([...statuses], [200], 'no request fails while a node stops')
  const after = await nodesOf(nodes, states, 2)
  const moved = states.filter((state) => {
    const [was] = before.get(state)!
    return was !== 'node2' && !after.get(state)!.has(was!)
  })
  // The others bound a node's load: where one request is under way, that moves some.
  if (name === 'nginx' || name === 'caddy') t.strictSame(moved, [], 'states of other nodes stay')
  t.notOk([...after.values()].some((set) => set.has('node2')))
}
