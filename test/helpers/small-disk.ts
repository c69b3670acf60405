/** A small disk for a test, which it can fill. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Why there can be no such disk here; false if there can. */
export const noDisk = mayMount() ? false : 'this process may not mount a disk'

/** The folder of a disk of this size, gone with the test. Only if {@link noDisk} is false. */
export function smallDisk(t: Test, bytes = 2 ** 21): string {
  const folder = mkdtempSync(join(tmpdir(), 'oi-disk-'))
  t.teardown(() => {
    spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  if (!mount(folder, bytes)) throw new Error('a disk could not be mounted')
  return folder
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'oi-disk-'))
  const mounted = mount(folder, 4096)
  if (mounted) spawnSync('umount', ['--lazy', folder])
  rmSync(folder, { recursive: true, force: true })
  return mounted
}

function mount(folder: string, bytes: number): boolean {
  const args = ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]
  return process.platform === 'linux' && spawnSync('mount', args).status === 0
}
