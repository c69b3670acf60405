/** Servers of a stub model whose accounts are in one PostgreSQL. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import type { Audit } from './audit.js'
import { auditSql } from './audit.js'
import { dataFolder } from './data-folder.js'
import { Postgres } from './postgres.js'
import { ServerProcess } from './server-process.js'
import { vacantPort } from './vacant-port.js'
import { post } from './asking.js'

interface NodeOptions {
  /** PostgreSQL's port, or that of a relay before it; and its address. */
  readonly port?: number
  readonly postgresHost?: string
  /** As of a `ServerProcess`. */
  readonly host?: string
  readonly through?: readonly string[]
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** A folder for the data and the spools. */
  readonly folder?: string
}

interface FleetNode {
  server: ServerProcess
  readonly host: string
  readonly port: number
  readonly dataDir: string
  /** Starts it again with the same folders. */
  readonly restart: () => Promise<void>
}

const credits = 900_000_000_000_000

export class Fleet {
  readonly postgres: Postgres
  readonly database: string
  readonly nodes: FleetNode[] = []
  /** The accounts, as a command has them. */
  readonly accounts: Accounts
  readonly secret: string
  readonly workspaceId: number
  /** Replies by their status; `lost`: the connection ended. */
  readonly seen = new Map<string, number>()
  readonly #t: Test

  /** With a workspace whose answers cost something. @param limited - Whether it has a balance. */
  static async start(
    t: Test,
    count: number,
    limited = true,
    postgresAt?: { address: string; network: string },
  ): Promise<Fleet> {
    const postgres = await Postgres.start(t, postgresAt)
    const fleet = new Fleet(t, postgres, limited)
    for (let i = 0; i < count; i++) await fleet.add()
    return fleet
  }

  private constructor(t: Test, postgres: Postgres, limited: boolean) {
    this.#t = t
    this.postgres = postgres
    const url = postgres.database()
    this.database = url.split('/').at(-1)!
    this.accounts = new Accounts({ dataDir: dataFolder(t), postgres: { url, graceMs: 0 } })
    t.teardown(() => this.accounts.close())
    const { secret, workspaceId } = this.accounts.createFirstKey()!
    this.secret = secret
    this.workspaceId = workspaceId
    this.accounts.terms.setLimits(workspaceId, { requestsPerMinute: 0, concurrent: 0 })
    this.accounts.prices.set('stub', { input: 1_000_000, output: 1_000_000 })
    if (limited) this.accounts.credits.add(workspaceId, credits)
  }

  async add({
    port,
    postgresHost,
    host = '127.0.0.1',
    through,
    args = [],
    environment,
    folder,
  }: NodeOptions = {}): Promise<FleetNode> {
    const dataDir = join(folder ?? this.#t.testdir(), `node${this.nodes.length}`)
    const own = await vacantPort()
    const start = () =>
      ServerProcess.start(this.#t, {
        ...{ dataDir, port: own, ...(host !== '127.0.0.1' && { host }) },
        ...(through && { through }),
        args: ['--accounts', this.postgres.address(this.database, port, postgresHost), ...args],
        environment: {
          ...{ XDG_STATE_HOME: join(dataDir, 'state'), TMPDIR: folder ?? '/tmp' },
          ...environment,
        },
      })
    const node: FleetNode = {
      ...{ server: await start(), host, port: own, dataDir },
      restart: async () => {
        node.server = await start()
      },
    }
    this.nodes.push(node)
    return node
  }

  /** One decision. @returns Its status; undefined if the connection ended. */
  async ask(node: FleetNode, secret = this.secret, key?: string): Promise<number | undefined> {
    let status: number | undefined
    try {
      const address = { url: `http://${node.host}:${node.port}`, key: secret }
      const reply = await post(address, {}, key === undefined ? {} : { 'idempotency-key': key })
      await reply.text()
      status = reply.status
    } catch {
      status = undefined
    }
    const name = String(status ?? 'lost')
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1)
    return status
  }

  count(status: number | 'lost'): number {
    return this.seen.get(String(status)) ?? 0
  }

  /** Asks all nodes in turn, from several clients. @returns Ends it. */
  load(clients: number): () => Promise<void> {
    let going = true
    const client = async (i: number) => {
      for (let turn = i; going; turn++) {
        const status = await this.ask(this.nodes[turn % this.nodes.length]!)
        if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const all = Promise.all(Array.from({ length: clients }, (_, i) => client(i)))
    return async () => {
      going = false
      await all
    }
  }

  /** The ledger, read by psql. */
  audit(): Audit {
    const text = `SET search_path TO oi; SELECT row_to_json(found) FROM (${auditSql("'default'")}) found`
    return JSON.parse(this.postgres.sql(text, this.database)) as Audit
  }
}
