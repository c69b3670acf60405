/**
 * A runner that a test drives frame by frame, as a broken front would.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { checkedOptions, type EngineOptions } from '../../src/engine/engine.js'
import { type Frame, FrameReader, newFrame, headBytes } from '../../src/runner/frames.js'
import { openFrame, replies } from '../../src/runner/messages.js'

const entry = fileURLToPath(new URL('../../src/runner/main.js', import.meta.url))

interface RawEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Its standard error. */
  readonly words: string
}

export class RawRunner implements AsyncDisposable {
  readonly stream: Duplex
  readonly ended: Promise<RawEnd>
  /** All received frames, without counters and progress. */
  readonly frames: Frame[] = []
  readonly #child: ChildProcess
  #wake = () => {}

  constructor() {
    this.#child = spawn(process.execPath, [entry], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
    this.stream = this.#child.stdio[3] as unknown as Duplex
    const reader = new FrameReader(Object.values(replies), ({ kind, id, payload }) => {
      if (kind === replies.stats || kind === replies.progress) return
      this.frames.push({ kind, id, payload: Buffer.from(payload) })
    })
    this.stream.on('data', (chunk: Buffer) => {
      reader.push(chunk)
      this.#wake()
    })
    this.stream.on('error', () => {}) // it may end during a write
    let words = ''
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (words += text))
    this.ended = once(this.#child, 'close').then(([code, name]) => {
      this.#wake()
      return { code: code as number | null, signal: name as NodeJS.Signals | null, words }
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  send(...frames: readonly Buffer[]): void {
    for (const frame of frames) this.stream.write(frame)
  }

  /** Opens an engine in the runner. */
  async open(options: EngineOptions): Promise<void> {
    this.send(openFrame(await checkedOptions(options)))
    const { kind } = await this.reply(0)
    if (kind !== replies.opened) throw new Error('The engine was not opened')
  }

  /** The reply to a call. Rejects if the runner ends without one. */
  async reply(id: number): Promise<Frame> {
    let over = false
    void this.ended.then(() => (over = true))
    for (;;) {
      const found = this.frames.find((frame) => frame.id === id)
      if (found !== undefined) return found
      if (over) throw new Error(`The runner ended without a reply to ${id}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }
}

/** A frame with any payload. */
export function frameOf(kind: number, id: number, payload: Uint8Array): Buffer {
  const frame = newFrame(kind, id, payload.length)
  frame.set(payload, headBytes)
  return frame
}
