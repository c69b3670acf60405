/**
 * A build on a processor that lacks its instructions reports it: a program with its last message,
 * the library with an exception. The check is compiled as for the addon, for an instruction that no
 * processor of this test has; and the real addon and a tool run on an older processor, if qemu can
 * emulate one. test/packaging/processors.test.ts runs the packed addon there.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { root } from '../../scripts/build/paths.js'
import { probe } from '../../scripts/build/run.js'

const onX64 = process.arch === 'x64' && process.platform === 'linux'
const message = /^oi was compiled for another processor\. This one lacks .*npm run build.*\n$/

t.test('the check runs before other constructors', { skip: !onX64 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oi-processor-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const build = (needs: string) => {
    writeFileSync(join(folder, 'oi_needed_instructions.h'), needs)
    // Crashes if the check does not stop it.
    writeFileSync(
      join(folder, 'main.cc'),
      'struct S { S() { __builtin_trap(); } } s;\nint main() {}\n',
    )
    const program = join(folder, 'program')
    const sources = [join(folder, 'main.cc'), join(root, 'native/processor/check.cc')]
    const compiler = process.env['CXX'] ?? 'c++'
    const compiled = spawnSync(compiler, ['-I', folder, ...sources, '-o', program])
    t.equal(compiled.status, 0, String(compiled.stderr))
    return spawnSync(program, { encoding: 'utf8' })
  }
  const lacking = build('OI_NEEDS("sse2")\nOI_NEEDS("avx5124fmaps")\n')
  t.equal(lacking.status, 1)
  t.match(lacking.stderr, message)
  t.match(lacking.stderr, 'lacks avx5124fmaps:')
  t.equal(build('OI_NEEDS("sse2")\n').signal, 'SIGILL', 'with all of them it goes on')
})

const qemu = 'qemu-x86_64-static'
const skip = onX64 && probe(qemu, ['--version']) !== undefined ? false : `there is no ${qemu}`

t.test('on an older processor the addon and a tool name the remedy', { skip }, async (t) => {
  const dir = await buildNative(new Set(), ['oi', 'oi-threads-test'])
  const load = `require(${JSON.stringify(join(dir, 'oi.node'))})`
  for (const command of [[join(dir, 'oi-threads-test')], [process.execPath, '-e', load]]) {
    const { status, stderr } = spawnSync(qemu, ['-cpu', 'Nehalem', ...command], {
      encoding: 'utf8',
    })
    t.equal(status, 1)
    const lines = stderr.split('\n').filter((line) => !line.startsWith(qemu))
    t.match(lines.join('\n'), message)
  }
})

t.test('on an older processor open() throws, and the process goes on', { skip }, async (t) => {
  await buildNative(new Set())
  const library = new URL('../../src/index.js', import.meta.url).href
  const script = `import { open } from ${JSON.stringify(library)}
await open({ threads: 1 }).catch(({ code, message }) => console.log(code, message))
console.log('It goes on.')`
  const node = [process.execPath, '--input-type=module', '--eval', script]
  const env = { ...process.env }
  delete env['OI_ADDON']
  const { status, stdout } = spawnSync(qemu, ['-cpu', 'Nehalem', ...node], {
    encoding: 'utf8',
    env,
  })
  t.equal(status, 0)
  t.match(stdout, /^ERR_ADDON_NOT_FOUND /)
  t.match(stdout, /oi\.node: it was compiled for another processor, and this one lacks .*\bavx\b/)
  // The copy of `npm run update-llama` is no checkout.
  t.match(stdout, /^Compile it here: (?:npm run build --|npx oi build) --clean$/m)
  t.match(stdout, /^It goes on\.$/m)
})
