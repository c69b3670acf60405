/**
 * A runner's process and the stream to it.
 *
 * Rules
 *   1. Its end is told once, after all that it wrote has been read: how it ended, and its last
 *      words.
 *   2. What is read lies in one buffer, which is used again: a frame is read when it is given.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { loadAddon } from '../engine/native.js'
import { coreTable } from './core-table.js'
import { type Frame, FrameReader } from './frames.js'
import { replies } from './messages.js'

const ownEntry = fileURLToPath(new URL('main.js', import.meta.url))
const ownEnvironment = {
  // ggml's backtrace starts a debugger.
  GGML_NO_BACKTRACE: '1',
  // The last in the child's list of descriptors.
  OI_CORE_SHARES_FD: '4',
}
/** Of each child. One listener for all of them: Node takes more than ten for a leak. */
const alive = new Set<() => void>()
process.on('exit', () => alive.forEach((kill) => kill()))

const lastWordsBytes = 8192
/** As much as the system hands over at once. */
const readBytes = 64 * 1024

export interface ChildOptions {
  /** Environment variables besides those of this process. */
  readonly environment: Readonly<Record<string, string>> | undefined
  /** The program; a runner's own by default. */
  readonly entry: string | undefined
  readonly onFrame: (frame: Frame) => void
  /** Told what it writes on stderr. */
  readonly onWords: (text: string) => void
  /** Told once. @param cause - A signal's name, `exit 1`, or why it was killed. */
  readonly onEnd: (cause: string, lastWords: string) => void
}

export class RunnerChild {
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #socket: Socket
  #lastWords = ''
  /** Why it was ended from here. */
  #reason: string | undefined

  /** Starts it. @throws {@link OiError} `ERR_ADDON_NOT_FOUND`, `ERR_ENGINE_INTERNAL` (no socket). */
  constructor({ environment, entry = ownEntry, onFrame, onWords, onEnd }: ChildOptions) {
    const [own, theirs] = loadAddon().socketPair()
    this.#child = spawn(process.execPath, [entry], {
      env: { ...process.env, ...ownEnvironment, ...environment },
      stdio: ['ignore', 'ignore', 'pipe', theirs, coreTable()],
    })
    closeSync(theirs)
    this.#socket = this.#open(own, onFrame)
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsBytes)
      onWords(text)
    })
    const killNow = () => this.#child.kill('SIGKILL')
    alive.add(killNow)
    this.ended = Promise.all([this.#exit(), this.#closed()]).then(([cause]) => {
      alive.delete(killNow)
      onEnd(this.#reason ?? cause, this.#lastWords)
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get stream(): Writable {
    return this.#socket
  }

  /** Ends it at once. @param reason - The cause that is told. */
  kill(reason: string): void {
    this.#reason ??= reason
    this.#child.kill('SIGKILL')
  }

  /** Lets it end. */
  end(): void {
    this.#socket.end()
  }

  /** One that is its own reads into the same buffer; a child's pipe takes a new one each time. */
  #open(fd: number, onFrame: (frame: Frame) => void): Socket {
    const frames = new FrameReader(Object.values(replies), onFrame)
    const buffer = Buffer.allocUnsafeSlow(readBytes)
    const take = (count: number) => {
      try {
        frames.push(buffer.subarray(0, count))
        return true
      } catch {
        this.kill('protocol')
        socket.destroy()
        return false
      }
    }
    const socket = new Socket({ fd, onread: { buffer, callback: take } } as SocketOptions)
    socket.on('error', () => {}) // the process' end follows, or is brought about
    socket.resume()
    return socket
  }

  /** How it ended. */
  #exit(): Promise<string> {
    return new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message))
      this.#child.once('close', (code, name) => resolve(name ?? `exit ${code ?? 0}`))
    })
  }

  #closed(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }
}

/** The types of Node 20 leave `onread` out. */
type SocketOptions = ConstructorParameters<typeof Socket>[0]
