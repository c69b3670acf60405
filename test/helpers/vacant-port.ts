/**
 * A port of this machine at which nobody listens, and that no system hands out by itself: so it
 * stays vacant while other tests open ports of their own.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

export async function vacantPort(): Promise<number> {
  for (;;) {
    // Below the ports that systems choose from.
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
