/**
 * What keeps a tree from being released.
 *
 * @module
 */

export interface Tree {
  /** What `git status --porcelain` says. */
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
 * Packages with compiled code: the version of today is the one that was tried, and the lock file is
 * no part of what is published.
 */
const compiled = ['better-sqlite3', 'sharp', 'uWebSockets.js']

/** @returns One sentence each; none if it can be released. */
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
