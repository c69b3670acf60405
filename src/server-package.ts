/**
 * The packages that only the server needs. An application that embeds models installs
 * `oi-systemone` without them; `@oi-systemone/server` brings them, each in the one version that was
 * tested. They are loaded at first use; the error of a missing package has the line that installs
 * it.
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
 * @param path - A file of the package instead of its main file.
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

/** @returns A message: the package is missing, and the line that installs all of them. */
export function notInstalled(name: string): string {
  return `the package ${name} is not installed; \`${installLine()}\` installs all that the server needs`
}

/**
 * `npm install --global` puts packages into a `node_modules` outside of any project. Both packages
 * have the command `oi`, and npm does not replace another package's command there.
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
