/**
 * vLLM's CPU build, as a peer: its OpenAI-compatible server, one list of prompts of tokens for each
 * request, one token out, with the log-probabilities of a question's labels.
 *
 * @module
 */

import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { vacantPort } from '../../test/helpers/vacant-port.js'
import { Child } from './child.js'
import { preparePost, type Reply } from './connection.js'
import { closedLoop, eachOf } from './load.js'

/** It compiles the model before it listens. */
const startLimitMs = 900_000

interface VllmOptions {
  readonly blockTokens: number
  readonly threads: number
}

export class VllmServer implements AsyncDisposable {
  readonly #child: Child
  readonly #port: number

  private constructor(child: Child, port: number) {
    this.#child = child
    this.#port = port
  }

  /** @param python - Of the virtual environment. @param folder - A Hugging Face model. */
  static async start(
    python: string,
    folder: string,
    { blockTokens, threads }: VllmOptions,
  ): Promise<VllmServer> {
    const port = await vacantPort()
    const place = ['--model', folder, '--host', '127.0.0.1', '--port', String(port)]
    const flags = ['--dtype', 'bfloat16', '--max-model-len', '4096', '--enable-prefix-caching']
    const cache = ['--block-size', String(blockTokens), '--served-model-name', 'model']
    const libraries = join(dirname(dirname(python)), 'lib')
    const openmp = readdirSync(libraries).find((name) => name === 'libiomp5.so')
    const child = new Child(
      python,
      ['-m', 'vllm.entrypoints.openai.api_server', ...place, ...flags, ...cache],
      {
        ...process.env,
        HF_HUB_OFFLINE: '1',
        VLLM_NO_USAGE_STATS: '1',
        VLLM_CPU_KVCACHE_SPACE: '1',
        VLLM_CPU_OMP_THREADS_BIND: `0-${threads - 1}`,
        // Its guide asks for Intel's OpenMP in this way.
        ...(openmp !== undefined && { LD_PRELOAD: join(libraries, openmp) }),
      },
    )
    try {
      await child.match(/Application startup complete/, startLimitMs)
    } catch (error) {
      await child.stop()
      throw error
    }
    return new VllmServer(child, port)
  }

  /**
   * A request as bytes.
   *
   * @param labels - The tokens whose log-probabilities are wanted.
   */
  static prepare(prompts: readonly number[][], labels: Int32Array): Buffer {
    const body = {
      model: 'model',
      prompt: prompts,
      max_tokens: 1,
      temperature: 0,
      logprobs: labels.length,
      logprob_token_ids: [...labels],
      return_tokens_as_token_ids: true,
    }
    return preparePost('/v1/completions', JSON.stringify(body))
  }

  /** @returns Milliseconds. @param connections - As many requests are under way at once. */
  async ask(
    requests: readonly Buffer[],
    connections: number,
    onReply?: (reply: Reply) => void,
  ): Promise<number> {
    let failed: Reply | undefined
    const { elapsedMs } = await closedLoop({
      port: this.#port,
      connections,
      next: eachOf(requests),
      onReply: (reply) => (reply.status === 200 ? onReply?.(reply) : (failed = reply)),
    })
    if (failed === undefined) return elapsedMs
    throw new Error(`vLLM answered ${failed.status}: ${failed.body.toString().slice(0, 500)}`)
  }

  /** The log-probability of each label for each prompt of a request. */
  async logProbabilities(prompts: readonly number[][], labels: Int32Array): Promise<number[][]> {
    let body = ''
    await this.ask([VllmServer.prepare(prompts, labels)], 1, (reply) => (body = String(reply.body)))
    const { choices } = JSON.parse(body) as {
      choices: { logprobs: { top_logprobs: Record<string, number>[] } }[]
    }
    return choices.map(({ logprobs }) =>
      [...labels].map((id) => logprobs.top_logprobs[0]![`token_id:${id}`] ?? NaN),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child.stop()
  }
}
