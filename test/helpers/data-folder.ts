/**
 * A data folder that outlives everything that the test opens in it: tap removes its own folder
 * before it closes them, and usage that cannot be written then would be kept for the next start.
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
