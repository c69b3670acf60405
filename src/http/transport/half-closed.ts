/**
 * Clients that have closed their side of the connection while their reply is still to come.
 *
 * Some of them wait for the reply (`nc -N`), most have gone; both look the same. So an interim
 * reply (`100 Continue`), which every HTTP/1.1 client skips, is sent: the system of a client that
 * has gone answers it with a reset. Not at once, since most replies are ready sooner.
 *
 * @module
 */

/** The operations on such a connection that a transport provides. */
interface HalfClosed {
  /** Whether a reply is still to be written. */
  isRunning(): boolean
  /** Sends an interim reply; called a tick before `isThere`. */
  probe(): void
  /** False if the client has gone, which also ends its request. */
  isThere(): boolean
  /** Closes the connection once the reply has left; called until the watch is stopped. */
  finish(): void
}

const firstMs = 100
const longestMs = 10_000

/** Watches until the returned function is called. */
export function watchHalfClosed(connection: HalfClosed): () => void {
  let stopped = false
  let waitMs = firstMs
  const again = () => {
    if (!stopped) setTimeout(tick, waitMs).unref()
  }
  let probed = false
  function tick(): void {
    if (stopped) return
    if (!connection.isRunning()) {
      waitMs = firstMs
      connection.finish()
    } else if (!probed) {
      connection.probe()
      probed = true
    } else {
      if (!connection.isThere()) return
      probed = false
      waitMs = Math.min(2 * waitMs, longestMs)
    }
    again()
  }
  again()
  return () => {
    stopped = true
  }
}
