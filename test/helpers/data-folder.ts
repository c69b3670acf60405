/**
 * A data folder that outlives whatever the test opens in it: tap removes its own before it closes
 * what was opened, and usage that could not be written then would be kept for a next start.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export function dataFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'oi-data-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}
