/**
 * A vacant port of this machine outside of the range from which systems choose: it stays vacant
 * while other tests open ports.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

export async function vacantPort(): Promise<number> {
  for (;;) {
    // Below the range from which systems choose.
    const port = 20_000 + Math.floor(10_000 * Math.random())
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
