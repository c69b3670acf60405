/**
 * llama.cpp's own server, as a peer: one prompt of tokens for each question, one token out.
 *
 * @module
 */

import { join } from 'node:path'
import { Child } from './child.js'
import { Connection, preparePost } from './connection.js'

/** A way to use it: flags to start it with, and the order in which prompts are sent. */
export interface Usage {
  readonly flags: readonly string[]
  /**
   * `in turn`: a request's prompts one after another, so that each finds the last one's state in
   * its slot. `at once`: all together.
   */
  readonly order: 'in turn' | 'at once'
  /** Each prompt of a request, or each client, has its own slot. */
  readonly ownSlots: boolean
}

export function describeUsage({ flags, order, ownSlots }: Usage): string {
  const words = [...flags, `questions ${order}`, ...(ownSlots ? ['own slots'] : [])]
  return words.join(' ')
}

export class LlamaServer implements AsyncDisposable {
  readonly #child: Child
  readonly #port: number

  private constructor(child: Child, port: number) {
    this.#child = child
    this.#port = port
  }

  static async start(tools: string, flags: readonly string[]): Promise<LlamaServer> {
    const child = new Child(join(tools, 'llama-server'), ['--port', '0', ...flags])
    const [, port] = await child.match(/listening on http:\/\/[^\s:]+:(\d+)/)
    const server = new LlamaServer(child, Number(port))
    await server.#ask([[1, 2, 3]], undefined, true)
    return server
  }

  /**
   * Requests of several clients, each a list of prompts, all clients at once.
   *
   * @param cache - False evaluates every prompt from its first token.
   * @returns Milliseconds until the last answer.
   */
  async run(
    clients: readonly (readonly number[][])[],
    { order, ownSlots }: Usage,
    cache = true,
  ): Promise<number> {
    const startMs = performance.now()
    await Promise.all(
      clients.map(async (prompts, client) => {
        if (order === 'in turn') return this.#ask(prompts, ownSlots ? client : undefined, cache)
        return Promise.all(
          prompts.map((prompt, i) => this.#ask([prompt], ownSlots ? i : undefined, cache)),
        )
      }),
    )
    return performance.now() - startMs
  }

  /** One after another. */
  async #ask(prompts: readonly number[][], slot: number | undefined, cache: boolean) {
    for (const prompt of prompts) {
      const body = JSON.stringify({
        prompt,
        n_predict: 1,
        n_probs: 10,
        temperature: 0,
        cache_prompt: cache,
        ...(slot !== undefined && { id_slot: slot }),
      })
      // A new connection for each, a fraction of a millisecond: the server's threads belong to
      // connections, and there are few of them.
      const { status, body: reply } = await Connection.withPool(this.#port, 1, ([connection]) =>
        connection!.exchange(preparePost('/completion', body)),
      )
      const { tokens_evaluated } = JSON.parse(reply.toString()) as { tokens_evaluated?: number }
      if (status !== 200 || tokens_evaluated !== prompt.length) {
        throw new Error(`llama-server answered ${status}: ${reply.toString().slice(0, 500)}`)
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child.stop()
  }
}
