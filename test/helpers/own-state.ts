/**
 * Loaded by tap before each test file: the accounts that a test opens, and its servers, keep what
 * they cannot write in a folder of this test file and not in the user's own.
 */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = join(tmpdir(), `oi-test-state-${process.pid}`)
process.env['XDG_STATE_HOME'] = folder
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
