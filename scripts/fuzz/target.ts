/**
 * The server under test: one of our own over an engine that answers at once, or any other.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { Child } from '../bench/child.js'
import { hasProc, residentBytes } from '../bench/proc.js'

export interface Target extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly key: string
  /** What it holds in memory; undefined where that cannot be seen. */
  residentBytes(): number | undefined
}

const script = fileURLToPath(new URL('../bench/front-server.js', import.meta.url))

/** Starts the whole server in a process of its own. */
export async function startTarget(): Promise<Target> {
  const child = new Child(process.execPath, [script, 'uws', 'sees'])
  const [, port, key] = await child.match(/"port":(\d+),"key":"(oi-[\w-]{43})"/)
  return {
    host: '127.0.0.1',
    port: Number(port),
    key: key!,
    residentBytes: () => {
      try {
        return hasProc ? residentBytes(child.pid!) : undefined
      } catch {
        return undefined // it has ended, which the connections tell
      }
    },
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

/** A server that runs already. @param url - Of plain HTTP, without a path. */
export function givenTarget(url: URL, key: string): Target {
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port === '' ? 80 : url.port),
    key,
    residentBytes: () => undefined,
    [Symbol.asyncDispose]: async () => {},
  }
}
