/**
 * A registry of this checkout's packages for one system each, as users have it: a package manager
 * that reads this scope from it finds the packages of all systems, and chooses.
 */
import type { Test } from 'tap'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename } from 'node:path'
import {
  platformManifest,
  platformName,
  project as own,
  systems,
} from '../../scripts/package/manifests.js'
import { packagesDir, tarballsIn } from '../../scripts/package/packages.js'
import { listening } from './vacant-port.js'

/** @returns The lines of an `.npmrc` that name it. */
export async function scopeRegistry(t: Test): Promise<string> {
  const packed = systems
    .map((system) => ({ system, path: tarballsIn(packagesDir, system).platform }))
    .filter(({ path }) => existsSync(path))
  const server = createServer((request, response) => {
    const asked = decodeURIComponent(request.url!.slice(1))
    const found = packed.find(({ path }) => basename(path) === asked)
    if (found !== undefined) return response.end(readFileSync(found.path))
    const named = packed.find(({ system }) => platformName(system) === asked)
    if (named === undefined) return response.writeHead(404).end('{}')
    const { system, path } = named
    const shasum = createHash('sha1').update(readFileSync(path)).digest('hex')
    const dist = { shasum, tarball: `${url}/${basename(path)}` }
    const versions = { [own.version]: { ...platformManifest(system), dist } }
    const document = { name: asked, 'dist-tags': { latest: own.version }, versions }
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify(document))
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `@oi-systemone:registry=${url}/\n`
}
