/**
 * Signals while compiling: cmake and ninja once went on when `npm start` was told to end. The
 * children here only sleep, in their own processes, as compilers do.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../fixtures/build-child.js', import.meta.url))

/** Processes of a group, which is named by its leader's process id. */
function membersOf(group: number): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      return fields[0] !== 'Z' && Number(fields[2]) === group
    } catch {
      return false
    }
  })
}

/** A build, and what leads the processes that it has started. @param ignored - By one of them. */
async function begin(ignored: string) {
  const build = spawn(process.execPath, [script, ignored], { stdio: ['ignore', 'pipe', 'pipe'] })
  await once(build.stdout, 'data')
  const path = `/proc/${build.pid}/task/${build.pid}/children`
  return { build, leader: Number(readFileSync(path, 'utf8').trim()) }
}

const linux = process.platform === 'linux' ? false : 'reads /proc'

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const) {
  t.test(`${signal} ends the build and everything it started`, { skip: linux }, async (t) => {
    const { build, leader } = await begin('USR1')
    t.ok(membersOf(leader).length >= 3, 'a shell and what it started')
    build.kill(signal)
    t.strictSame(await once(build, 'exit'), [code, null])
    t.strictSame(membersOf(leader), [])
  })
}

t.test('a child that ignores the request to end is killed', { skip: linux }, async (t) => {
  const { build, leader } = await begin('TERM')
  build.kill('SIGTERM')
  t.strictSame(await once(build, 'exit'), [143, null])
  t.strictSame(membersOf(leader), [])
})
