/**
 * What a build prints when a system package is missing.
 */
import t, { type Test } from 'tap'
import { spawnSync } from 'node:child_process'
import { checkPrerequisites } from '../../scripts/build/prerequisites.js'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { probe } from '../../scripts/build/run.js'

/** A folder with these commands of the machine. */
function folderOf(t: Test, commands: readonly string[]): string {
  const dir = t.testdir({})
  for (const command of commands) {
    const path = probe('/bin/sh', ['-c', `command -v ${command}`])
    if (path) symlinkSync(path, join(dir, command))
  }
  return dir
}

function withPath<T>(path: string, use: () => T): T {
  const before = process.env['PATH']
  process.env['PATH'] = path
  try {
    return use()
  } finally {
    process.env['PATH'] = before
  }
}

t.test('everything missing is named, with one command that installs it', async (t) => {
  const dir = t.testdir({})
  const message = withPath(dir, () => {
    try {
      checkPrerequisites()
      return ''
    } catch (error) {
      return (error as Error).message
    }
  })
  t.match(message, /Missing: a C\+\+ compiler, CMake, git, Ninja or make\./)
  const isRoot = process.getuid?.() === 0
  const line = isRoot ? 'apt-get update && apt-get install -y' : 'sudo apt-get install -y'
  t.ok(message.endsWith(`\n\n  ${line} g++ cmake git ninja-build\n`), message)
})

t.test('one missing tool is named alone', async (t) => {
  const dir = folderOf(t, ['g++', 'git', 'make', 'apt-get'])
  t.throws(() => withPath(dir, checkPrerequisites), { message: /^Missing: CMake\.\n/ })
})

t.test('compiling for arm64 on another machine needs another compiler', async (t) => {
  const dir = t.testdir({})
  const message =
    /, Debian's cross compiler for arm64\.\nInstall with:\n\n .* g\+\+-aarch64-linux-gnu\n/
  t.throws(() => withPath(dir, () => checkPrerequisites(new Set(['linux-arm64']))), { message })
})

t.test('building for GPUs needs their toolkit', async (t) => {
  const dir = folderOf(t, ['g++', 'cmake', 'git', 'make', 'apt-get'])
  for (const [name, message] of [
    ['cuda', /^Missing: NVIDIA's CUDA Toolkit \(.*\)\.$/],
    ['hip', /^Missing: AMD's ROCm, 6\.1 or newer \(.*\)\.$/],
    ['vulkan', /^Missing: Vulkan's .* \(glslc\)\.\nInstall with:\n\n .* glslc libvulkan-dev /],
  ] as const) {
    t.throws(() => withPath(dir, () => checkPrerequisites(new Set([name]))), { message }, name)
  }
  if (process.platform !== 'darwin') {
    t.throws(() => checkPrerequisites(new Set(['metal'])), { message: /expected on macOS/ })
  }
})

t.test('a process that may start no others reports nothing missing', async (t) => {
  const toolchain = new URL('../../src/engine/toolchain.js', import.meta.url).href
  const script = `console.log((await import(${JSON.stringify(toolchain)})).missingTools())`
  // Node 20 has the old name of --permission.
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  const args = [permission, '--allow-fs-read=*', '--input-type=module', '--eval', script]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: '' } })
  t.equal(stdout, 'undefined\n')
})

t.test('nothing is missing on the machine of this test', async (t) => {
  t.doesNotThrow(checkPrerequisites)
})
