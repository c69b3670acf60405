/**
 * The whole server on a fixture: handlers, sockets, accounts in a temporary folder, the engine.
 */
import { createDecider, type ModelDecider } from '../../src/decide/decide.js'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { Engine, ScoreInput, ScoreOptions, ScoreOutput } from '../../src/engine/types.js'
import { fileFacts } from '../../src/models/file-facts.js'
import { type FixtureName, fixturePath, withEngine } from './fixture.js'
import { realWire, type StubOptions, type StubServer, withServer } from './stub.js'

interface RealServer extends StubServer {
  readonly engine: CountingEngine
  readonly decider: ModelDecider
}

interface RealServerOptions extends Omit<EngineOptions, 'modelPath'> {
  readonly fixture?: FixtureName
  readonly handlers?: StubOptions
}

/** Runs a server whose model is named `fixture`, on one thread, and closes everything. */
export async function withRealServer(
  { fixture = 'small', handlers = {}, ...options }: RealServerOptions,
  use: (server: RealServer) => Promise<void>,
): Promise<void> {
  const facts = await fileFacts(await fixturePath(fixture))
  await withEngine(fixture, { threads: 1, ...options }, async (native) => {
    const engine = new CountingEngine(native)
    const decider = await createDecider(engine, { ...facts, name: 'fixture' })
    await withServer({ wire: realWire, decider, ...handlers }, (server) =>
      use({ ...server, engine, decider }),
    )
  })
}

/** An engine that counts its requests. */
class CountingEngine implements Engine {
  readonly info: Engine['info']
  /** Requests that reached the engine. */
  asked = 0
  /** Requests that the model answered. */
  answered = 0
  /** Requests that are neither answered nor refused yet. */
  pending = 0
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
    this.info = engine.info
  }

  async score(input: ScoreInput, options?: ScoreOptions): Promise<ScoreOutput> {
    this.asked++
    this.pending++
    try {
      const output = await this.#engine.score(input, options)
      this.answered++
      return output
    } finally {
      this.pending--
    }
  }

  tokenize(...args: Parameters<Engine['tokenize']>) {
    return this.#engine.tokenize(...args)
  }

  countTokens(text: string) {
    return this.#engine.countTokens(text)
  }

  stats() {
    return this.#engine.stats()
  }

  areOrdinary(ids: Int32Array) {
    return this.#engine.areOrdinary(ids)
  }

  close() {
    return this.#engine.close()
  }
}
