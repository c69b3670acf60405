/** A way to a server that can fall silent, as a network does: nothing comes, and nothing is closed. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listening } from './vacant-port.js'

export class SilentRelay {
  readonly port: number
  readonly #open: Set<Socket>
  readonly #state: { silent: boolean }

  /** Ends with the test. @param to - A port on loopback. */
  static async start(t: Test, to: number): Promise<SilentRelay> {
    const open = new Set<Socket>()
    const state = { silent: false }
    const server = createServer((near) => {
      const hold = (socket: Socket) => {
        open.add(socket)
        socket.on('error', () => {}).on('close', () => open.delete(socket))
      }
      hold(near)
      // A connection that begins in the silence never reaches the server.
      if (state.silent) return
      const far = connect(to, '127.0.0.1')
      hold(far)
      near.pipe(far)
      far.pipe(near)
      far.on('close', () => near.destroySoon())
      near.on('close', () => far.destroySoon())
    })
    const port = await listening(server)
    t.teardown(() => {
      for (const socket of open) socket.destroy()
      server.close()
    })
    return new SilentRelay(port, open, state)
  }

  private constructor(port: number, open: Set<Socket>, state: { silent: boolean }) {
    this.port = port
    this.#open = open
    this.#state = state
  }

  /** The connections of now carry nothing any more, for good; later ones do. */
  silencePresent(): void {
    for (const socket of this.#open) socket.unpipe().pause()
  }

  /** Nothing goes through, until {@link resume}. */
  silence(): void {
    this.#state.silent = true
    this.silencePresent()
  }

  resume(): void {
    this.#state.silent = false
  }
}
