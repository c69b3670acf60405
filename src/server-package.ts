/**
 * The packages that only the server needs. An application that embeds models installs
 * `oi-systemone` without them; `@oi-systemone/server` brings them, each in the one version that
 * was tried. They are loaded when they are first used, and whoever lacks one is told the line that
 * installs it.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { OiError } from './errors.js'
import { packageRoot, packageVersion } from './package-root.js'

const require = createRequire(import.meta.url)

/**
 * Loads a package of the server, which is CommonJS.
 *
 * @param use - What it is for, as `the accounts`.
 * @param path - A file of it instead of its main one.
 * @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND` with the line that installs it.
 */
export function serverPackage<T>(name: string, use: string, path = name): T {
  try {
    return require(path) as T
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause
    throw new OiError('ERR_PACKAGE_NOT_FOUND', `For ${use}: ${notInstalled(name)}`, { cause })
  }
}

/** @returns That a package of the server is missing, and the line that installs all of them. */
export function notInstalled(name: string): string {
  return `the package ${name} is not installed; \`${installLine()}\` installs all that the server needs`
}

/**
 * `npm install --global` puts packages into a `node_modules` that is in no project. Both packages
 * have the command `oi`, and npm replaces no command of another package there.
 */
function installLine(): string {
  const server = `@oi-systemone/server@${packageVersion()}`
  const modules = dirname(packageRoot)
  const isInProject =
    basename(modules) !== 'node_modules' ||
    modules.includes(join('node_modules', '.pnpm')) ||
    existsSync(join(dirname(modules), 'package.json'))
  if (isInProject) return `npm install ${server}`
  return `npm uninstall --global oi-systemone && npm install --global ${server}`
}
