/**
 * A runner's process and the stream to it.
 *
 * Rules
 *   1. Its end is reported once, after all of its output has been read: how it ended, and its last
 *      output.
 *   2. Reads share one buffer: a frame must be consumed during its callback.
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
  // The last of the child's descriptors.
  OI_CORE_SHARES_FD: '4',
}
/** Ends every child. One process listener for all: Node takes more than ten for a leak. */
const alive = new Set<() => void>()
process.on('exit', () => alive.forEach((kill) => kill()))

const lastWordsBytes = 8192
/** The most that one read returns. */
const readBytes = 64 * 1024

interface ChildOptions {
  /** Environment variables besides those of this process. */
  readonly environment: Readonly<Record<string, string>> | undefined
  /** The program. Default: the runner's. */
  readonly entry: string | undefined
  readonly onFrame: (frame: Frame) => void
  /** Called with its output on stderr. */
  readonly onWords: (text: string) => void
  /** Called once. @param cause - A signal's name, `exit 1`, or why it was killed. */
  readonly onEnd: (cause: string, lastWords: string) => void
}

export class RunnerChild {
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #socket: Socket
  #lastWords = ''
  /** The reason given to `kill()`. */
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

  /** Ends it at once. @param reason - The cause that `onEnd` gets. */
  kill(reason: string): void {
    this.#reason ??= reason
    this.#child.kill('SIGKILL')
  }

  /** Whether it keeps this process from ending by itself; at first it does. */
  hold(holds: boolean): void {
    const stderr = this.#child.stderr as Socket
    for (const each of [this.#child, this.#socket, stderr]) {
      if (holds) each.ref()
      else each.unref()
    }
  }

  /** Closes the connection, after which it ends by itself. */
  end(): void {
    this.#socket.end()
  }

  /**
   * A Socket of our own reads into one buffer; a child's pipe allocates a new buffer for each read.
   */
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
    socket.on('error', () => {}) // the process ends by itself, or is killed
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
