/** A proxy that cuts connections, as a network does: what was not taken is lost. */
import { connect, createServer, type Socket } from 'node:net'
import { listening } from './vacant-port.js'

interface CuttingProxy {
  readonly port: number
  readonly url: string
  /** Connections that were cut so far. */
  readonly cuts: number
  close(): void
}

/** Cuts each connection to `port` but every third. */
export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let count = 0
  let cuts = 0
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const cut = count++ % 3 !== 2
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {}).on('close', () => open.delete(socket))
    }
    // Where nobody listens, its client is told so at once.
    far.on('close', () => near.destroySoon())
    near.pipe(far)
    if (!cut) {
      far.pipe(near)
      // One request a connection, so that the next one is cut.
      far.once('data', () => setTimeout(() => near.end(), 5))
      return
    }
    // The reply comes, and is not read.
    far.pause()
    near.once('data', () => {
      setTimeout(() => {
        cuts++
        far.resetAndDestroy()
        near.resetAndDestroy()
      }, 60)
    })
  })
  const own = await listening(server)
  return {
    port: own,
    url: `http://127.0.0.1:${own}`,
    get cuts() {
      return cuts
    },
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
