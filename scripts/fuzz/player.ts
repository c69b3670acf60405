/**
 * One connection that plays cases, one after another, and says what is wrong with the replies.
 *
 * A connection goes on as long as only due replies came over it; a case with nothing due ends it.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case } from './cases.js'
import { wrongIn } from './check-reply.js'
import { type HttpReply, Malformed, ReplyReader } from '../reply-reader.js'

/** No new connection can be had. */
export class Gone extends Error {}

export interface Played {
  /** What is wrong; undefined if nothing is. */
  readonly wrong: string | undefined
  readonly replies: readonly HttpReply[]
}

const replyLimitMs = 30_000
/** How long a case with nothing due is listened to behind its last byte. */
const quietMs = 10

interface Line {
  readonly socket: Socket
  readonly reader: ReplyReader
  ended: boolean
  /** Bytes that came over it, of all replies. */
  heard: number
  wake: () => void
}

export class Player {
  readonly #host: string
  readonly #port: number
  #line: Line | undefined

  constructor(host: string, port: number) {
    this.#host = host
    this.#port = port
  }

  /** @throws {@link Gone}. */
  async play(played: Case): Promise<Played> {
    const used = this.#line !== undefined && !this.#line.ended
    const result = played.due ? await this.#hear(played) : await this.#bother(played)
    if (result !== 'closed') return result
    if (!used) return { wrong: 'the connection was closed without a reply', replies: [] }
    // The server may close a connection that it thinks idle just when it is used again.
    this.close()
    return this.play(played)
  }

  /** Ends the connection at once: closed in order, so many would use up the machine's ports. */
  close(): void {
    this.#line?.socket.resetAndDestroy()
    this.#line = undefined
  }

  /** Plays a case whose one reply is due. */
  async #hear(played: Case): Promise<Played | 'closed'> {
    const line = await this.#open()
    const before = line.heard
    await write(line, played.parts)
    if (played.halfCloses) line.socket.end()
    const untilMs = performance.now() + replyLimitMs
    try {
      for (;;) {
        const reply = line.reader.next(played.headOnly === true, line.ended)
        // One that half-closed may be asked whether it still reads: an interim reply comes first.
        if (reply?.status === 100) continue
        if (reply !== undefined) return this.#heard(played, line, reply)
        if (line.ended) {
          if (line.heard === before) return 'closed'
          return this.#failed('the connection was closed within a reply')
        }
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0) return this.#failed(`no reply within ${replyLimitMs / 1000} s`)
        await more(line, leftMs)
      }
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      return this.#failed(`no HTTP: ${error.message}`)
    }
  }

  #heard(played: Case, line: Line, reply: HttpReply): Played {
    const wrong = line.reader.pending > 0 ? 'more bytes than a reply' : wrongIn(reply, played)
    const isLast = reply.headers.get('connection') === 'close' || played.halfCloses
    if (wrong !== undefined || isLast) this.close()
    return { wrong, replies: [reply] }
  }

  #failed(wrong: string): Played {
    this.close()
    return { wrong, replies: [] }
  }

  /** Plays a case with nothing due: whatever comes must be replies. */
  async #bother(played: Case): Promise<Played> {
    const line = await this.#open()
    await write(line, played.parts)
    try {
      if (played.leaves) line.socket.destroy()
      else await quiet(line)
      const replies: HttpReply[] = []
      for (;;) {
        const reply = line.reader.next(false, line.ended)
        if (reply === undefined) return { wrong: undefined, replies }
        replies.push(reply)
        // A mutated head may ask for anything, also by HEAD: what follows is not looked at then.
        const wrong = reply.status === 100 ? undefined : wrongIn(reply, played)
        if (wrong !== undefined) return { wrong, replies }
      }
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      return { wrong: `no HTTP: ${error.message}`, replies: [] }
    } finally {
      this.close()
    }
  }

  async #open(): Promise<Line> {
    if (this.#line !== undefined && !this.#line.ended) return this.#line
    this.#line = await open(this.#host, this.#port)
    return this.#line
  }
}

function open(host: string, port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    // The server's end is not ours: a client may go on reading or writing.
    const socket = connect({ port, host, allowHalfOpen: true })
    const line: Line = {
      socket,
      reader: new ReplyReader(),
      ended: false,
      heard: 0,
      wake: () => {},
    }
    socket.setNoDelay(true)
    socket.once('connect', () => resolve(line))
    socket.on('error', (error) => {
      line.ended = true
      // Only the first counts: behind the connection's beginning nobody waits for this.
      reject(new Gone(error.message))
    })
    socket.on('data', (data) => {
      line.heard += data.length
      line.reader.push(data)
      line.wake()
    })
    for (const end of ['end', 'close'] as const) {
      socket.on(end, () => {
        line.ended = true
        line.wake()
      })
    }
  })
}

async function write({ socket }: Line, parts: readonly Buffer[]): Promise<void> {
  for (const [i, part] of parts.entries()) {
    if (i > 0) await sleep(1)
    if (!socket.writable) return
    socket.write(part)
  }
}

/** Resolves when something has come, the connection has ended, or the time is over. */
function more(line: Line, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs)
    line.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

/** Resolves when nothing has come for a while. */
async function quiet(line: Line): Promise<void> {
  for (;;) {
    const { heard } = line
    await more(line, quietMs)
    if (line.ended || line.heard === heard) return
  }
}
