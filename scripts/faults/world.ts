/**
 * What every kind of fault works on: a real server of this checkout with two models, its accounts,
 * clients, and one tally of what they saw.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { defaultModelPath } from '../../src/models/default-model.js'
import { createRandom, type Random } from '../../test/helpers/random.js'
import { holdsWithin } from '../wait.js'
import { openWorkspace, setPrice, type Workspace } from './accounts.js'
import { HealthProbe } from './health.js'
import { Server } from './server.js'
import { Tally } from './tally.js'

export interface WorldOptions {
  /** Folder for everything of the run. */
  readonly folder: string
  readonly port: number
  readonly minutes: number
  readonly seed: number
  /** Variables of the server's process. */
  readonly environment: Readonly<Record<string, string>>
  /** How many times slower the server may be: under a sanitizer. Default 1. */
  readonly slowness?: number
}

/** The server's models: `first` is the default, and the one that faults are aimed at. */
export const modelNames = ['first', 'second'] as const
/** After a fault, all must be well within this time. */
const healMs = 60_000

export class World {
  readonly folder: string
  readonly dataDir: string
  readonly port: number
  readonly random: Random
  readonly slowness: number
  readonly tally = new Tally()
  readonly server: Server
  /** From the begin on. */
  health: HealthProbe | undefined
  /** The same of {@link IdleServer}. */
  idle: HealthProbe | undefined
  readonly workspaces: Workspace[] = []
  /** For faults that change how the server is started. */
  readonly environment: Record<string, string>
  /** Of the server; a reload reads them again. */
  readonly #settings: Record<string, unknown>
  readonly #file: string
  readonly #minutes: number
  readonly #agents: Agent[] = []
  #endMs = Infinity

  constructor({ folder, port, minutes, seed, environment, slowness = 1 }: WorldOptions) {
    this.slowness = slowness
    this.folder = folder
    this.port = port
    this.random = createRandom(seed)
    this.environment = { ...environment, XDG_STATE_HOME: join(folder, 'state') }
    this.dataDir = join(folder, 'data')
    mkdirSync(this.dataDir)
    this.#minutes = minutes
    this.#file = join(folder, 'oi.json')
    const models = modelNames.map((name) => ({ name, file: defaultModelPath }))
    this.#settings = { models, hostCacheMb: 16, deterministic: true }
    this.set({})
    this.server = new Server({
      ...{ port, dataDir: this.dataDir, environment: this.environment },
      flags: ['--config', this.#file, '--log', 'requests'],
      onUnaskedEnd: (how, log) =>
        this.tally.violate(`the server ended by itself (${how}):\n${log}`),
    })
  }

  /** Starts the clock of the run, and of `/healthz`. */
  begin(idle: HealthProbe): void {
    this.idle = idle
    this.#endMs = performance.now() + this.#minutes * 60_000
    this.health = new HealthProbe(this.port)
  }

  /** One kept connection, until {@link hangUp}. */
  agent(): Agent {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    this.#agents.push(agent)
    return agent
  }

  hangUp(): void {
    for (const agent of this.#agents) agent.destroy()
  }

  /** Ends it at once. */
  end(): void {
    this.#endMs = 0
  }

  /** True from the moment at which clients should stop. */
  readonly over = (): boolean => performance.now() >= this.#endMs

  /** Writes settings for the next start or reload. */
  set(settings: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#settings, settings)
    writeFileSync(this.#file, JSON.stringify(this.#settings))
  }

  /** Adds a model to those of the next start. */
  addModel(name: string, file: string): void {
    this.set({ models: [...(this.#settings['models'] as unknown[]), { name, file }] })
  }

  /** Makes a workspace without limits of requests; its books are audited at the end. */
  workspace(name: string, charged = true): Workspace {
    const workspace = openWorkspace(this.dataDir, name, charged)
    this.workspaces.push(workspace)
    return workspace
  }

  /** Every model has a price. */
  price(): void {
    for (const { name } of this.#settings['models'] as { name: string }[]) {
      setPrice(this.dataDir, name)
    }
  }

  /** A time of up to so many seconds, milliseconds. */
  readonly upTo = (seconds: number): number => 1000 * (1 + this.random.integer(seconds))

  /** Waits until the server is ready. @param after - What it heals from. */
  async heal(after: string): Promise<void> {
    if (await holdsWithin(healMs, () => this.server.isReady(true), 50)) return
    this.tally.violate(`${after}: not ready again after ${healMs} ms\n${this.server.log}`)
  }
}
