/**
 * The runner's side: frames in, the addon's engine, frames out.
 *
 * Rules
 *   1. It holds one engine, which the first frame opens, and nothing of HTTP, prompts or accounts.
 *   2. It lives no longer than its connection: a front that is gone has no use for it.
 *
 * @module
 */

import type { Duplex } from 'node:stream'
import { loadAddon, type NativeEngine } from '../engine/native.js'
import { FrameReader, type Frame, ProtocolError } from './frames.js'
import {
  asks,
  countedFrame,
  type Failure,
  jsonFrame,
  type OpenAsk,
  openedFrame,
  progressFrame,
  protocolVersion,
  readCount,
  readJson,
  readScore,
  readTokenize,
  replies,
  resultFrame,
  signal,
  statsFrame,
  tokensFrame,
} from './messages.js'

/** How old counters may be that the front shows, while they change. */
const statsMs = 100

/**
 * Serves one connection.
 *
 * @param onRequest - Told of each request before the engine has it; tests plant faults there.
 * @returns When the connection has ended.
 */
export function serveFrames(stream: Duplex, onRequest?: (texts: string[]) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const runner = new FrameServer(stream, onRequest)
    const frames = new FrameReader(Object.values(asks), (frame) => runner.take(frame))
    stream.on('data', (chunk: Buffer) => {
      try {
        frames.push(chunk)
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
        stream.destroy()
      }
    })
    stream.on('error', () => {}) // 'close' follows
    stream.on('close', () => {
      runner.stop()
      resolve()
    })
  })
}

class FrameServer {
  readonly #stream: Duplex
  readonly #onRequest: ((texts: string[]) => void) | undefined
  #native: NativeEngine | undefined
  #statsTimer: NodeJS.Timeout | undefined
  #lastStats = ''

  constructor(stream: Duplex, onRequest: ((texts: string[]) => void) | undefined) {
    this.#stream = stream
    this.#onRequest = onRequest
  }

  stop(): void {
    clearInterval(this.#statsTimer)
  }

  take({ kind, id, payload }: Frame): void {
    if (kind === asks.ping) {
      this.#send(signal(replies.pong, id))
      return
    }
    if (kind === asks.open) {
      this.#answer(id, this.#open(readJson(payload) as OpenAsk))
      return
    }
    const native = this.#native
    if (native === undefined) throw new ProtocolError('The first message does not open an engine')
    switch (kind) {
      case asks.score: {
        const ask = readScore(payload)
        const { texts, trusted, shape, candidates, workspace, deadlineMs, images, sizes } = ask
        this.#onRequest?.(texts)
        const scored = native.score(
          ...([id, texts, trusted, shape, candidates] as const),
          ...([workspace, deadlineMs, images, sizes] as const),
        )
        this.#answer(
          id,
          scored.then((output) => resultFrame(id, output)),
        )
        return
      }
      case asks.tokenize: {
        const { texts, trusted } = readTokenize(payload)
        const tokenized = native.tokenize(id, texts, trusted)
        this.#answer(
          id,
          tokenized.then((tokens) => tokensFrame(id, tokens)),
        )
        return
      }
      case asks.count:
        this.#count(native, id, readCount(payload))
        return
      case asks.cancel:
        native.cancel(id)
        return
      case asks.close:
        this.#answer(
          id,
          native.close().then(() => signal(replies.closed, id)),
        )
    }
  }

  async #open({ version, options }: OpenAsk): Promise<Buffer> {
    if (version !== protocolVersion) {
      throw new ProtocolError(`The front speaks version ${version}, this one ${protocolVersion}`)
    }
    const addon = loadAddon()
    const onProgress = (fraction: number) => this.#send(progressFrame(fraction))
    const native = new addon.NativeEngine(options, onProgress)
    const facts = await native.open()
    this.#native = native
    this.#sendStats()
    this.#statsTimer = setInterval(() => this.#sendStats(), statsMs)
    return openedFrame(0, facts)
  }

  #count(native: NativeEngine, id: number, text: string): void {
    const count = native.countNow(text)
    if (count !== undefined) this.#send(countedFrame(id, count))
    else
      this.#answer(
        id,
        native.count(id, text).then((counted) => countedFrame(id, counted)),
      )
  }

  #sendStats(): void {
    const stats = this.#native!.stats()
    const text = JSON.stringify(stats)
    if (text === this.#lastStats) return
    this.#lastStats = text
    this.#send(statsFrame(stats))
  }

  #answer(id: number, reply: Promise<Buffer>): void {
    reply.then(
      (frame) => this.#send(frame),
      (error: unknown) => this.#send(jsonFrame(replies.failed, id, failureOf(error))),
    )
  }

  #send(frame: Buffer): void {
    if (!this.#stream.destroyed) this.#stream.write(frame)
  }
}

function failureOf(error: unknown): Failure {
  const { code, message, retryAfterMs } = error as Partial<Failure>
  return { code, message: message ?? String(error), retryAfterMs }
}
