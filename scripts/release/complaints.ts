/**
 * The reasons not to release a tree.
 *
 * @module
 */

export interface Tree {
  /** Output of `git status --porcelain`. */
  readonly status: string
  readonly changelog: string
  readonly manifest: {
    readonly version: string
    readonly dependencies: Readonly<Record<string, string>>
    readonly devDependencies: Readonly<Record<string, string>>
  }
  readonly lock: { readonly version: string }
}

/**
 * Packages with compiled code: today's version is the tested one, and the lock file is not
 * published.
 */
const compiled = ['better-sqlite3', 'sharp', 'uWebSockets.js']

/** @returns One sentence for each reason; empty if the tree can be released. */
export function complaints({ status, changelog, manifest, lock }: Tree): string[] {
  const { version } = manifest
  const found: string[] = []
  if (status !== '') found.push(`The tree is not clean:\n${status}`)
  const heading = changelog.match(/^## .*$/m)?.[0] ?? ''
  if (heading !== `## ${version}`) {
    found.push(`CHANGELOG.md: expected "## ${version}" first, got "${heading}"`)
  }
  if (lock.version !== version) {
    found.push(`package-lock.json is of version ${lock.version}, expected ${version}`)
  }
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const name of compiled) {
    if (/^(?:npm:\S+@)?\d+\.\d+\.\d+$/.test(all[name] ?? '')) continue
    found.push(`package.json: expected one version of ${name}, got ${all[name]}`)
  }
  return found
}
