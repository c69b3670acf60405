/**
 * A data folder that outlives everything that the test opens in it: tap removes its own folder
 * before it closes them, and usage that cannot be written then would be kept for the next start.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import type { NewKey } from '../../src/accounts/api-keys.js'

export function dataFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'oi-data-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

/** Sets a variable of the environment until the test ends. */
export function setVariable(t: Test, name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  t.teardown(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

/**
 * Makes accounts in a folder, and their first key.
 *
 * @param change - Changes them. Gets the workspace of the key.
 */
export function firstKey(
  dataDir: string,
  change: (accounts: Accounts, workspaceId: number) => void = () => {},
): NewKey {
  const accounts = new Accounts({ dataDir })
  const key = accounts.createFirstKey()!
  change(accounts, key.workspaceId)
  accounts.close()
  return key
}
