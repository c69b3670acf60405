/** Another llama.cpp as the pinned one: its private headers, and the report. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { pin, pinnedHeaders } from '../../scripts/build/pin.js'
import { changedHeaders, privateHeaders } from '../../scripts/build/private-headers.js'
import { reportOf, type Result } from '../../scripts/update-llama/report.js'
import { copyTree, type Tree } from '../../scripts/update-llama/workshop.js'

const vendored = join(root, 'vendor/llama.cpp')
const skip = existsSync(vendored) ? false : 'llama.cpp is not there yet'

/** The headers of the pinned tree, in a folder of the test. */
function copyOf(folder: string): string {
  for (const path of ['ggml/include', ...Object.keys(pinnedHeaders)]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(vendored, path), join(folder, path), { recursive: true })
  }
  return folder
}

t.test('the pinned tree has the private headers of the pin', { skip }, async (t) => {
  t.strictSame(Object.fromEntries(privateHeaders(vendored)), pinnedHeaders)
  t.strictSame(changedHeaders(copyOf(t.testdir())), [])
})

t.test('a changed or missing private header is named', { skip }, async (t) => {
  const tree = copyOf(t.testdir())
  appendFileSync(join(tree, 'ggml/src/ggml-impl.h'), '// more\n')
  rmSync(join(tree, 'ggml/src/ggml-cpu/traits.h'))
  t.strictSame(changedHeaders(tree), ['ggml/src/ggml-cpu/traits.h', 'ggml/src/ggml-impl.h'])
})

t.test('a git submodule is taken as any checkout is', async (t) => {
  const folder = t.testdir()
  const git = (dir: string, ...args: string[]) => {
    const own = ['-c', 'protocol.file.allow=always', '-c', 'user.name=a', '-c', 'user.email=a@b.c']
    const { status, stdout, stderr } = spawnSync('git', [...own, '-C', join(folder, dir), ...args])
    t.equal(status, 0, String(stderr))
    return String(stdout).trim()
  }
  for (const name of ['llama', 'app']) {
    mkdirSync(join(folder, name))
    git(name, 'init', '--quiet')
  }
  mkdirSync(join(folder, 'llama/include'))
  writeFileSync(join(folder, 'llama/include/llama.h'), '// a header\n')
  git('llama', 'add', '.')
  git('llama', 'commit', '--quiet', '-m', 'a')
  git('app', 'submodule', '--quiet', 'add', join(folder, 'llama'), 'deep/llama')
  const [from, to] = [join(folder, 'app/deep/llama'), join(folder, 'copy')]
  const commit = git('llama', 'rev-parse', 'HEAD')
  t.strictSame(copyTree(from, to), { commit, isChanged: false })
  t.equal(git('copy', 'rev-parse', 'HEAD'), commit)
  appendFileSync(join(from, 'include/llama.h'), '// more\n')
  t.strictSame(copyTree(from, to), { commit, isChanged: true })
})

const tree: Tree = {
  ...{ source: 'other', dir: vendored, commit: '1'.repeat(40) },
  ...{ isChanged: false, acceptsHeaders: false },
}
const result = (name: string, verdict: Result['verdict'], ...lines: string[]): Result => ({
  ...{ name, verdict, lines },
})

t.test('a report names all failures', async (t) => {
  const report = reportOf({ ...tree, isChanged: true }, [
    result('slots', 'refused', 'not ok 12 - ROPE: mode in slot 2'),
    result('compiles', 'refused', 'error: llama_n_ctx was not declared'),
    result('parity', 'not run', 'compiles: refused'),
  ])
  t.match(report, /^# other: refused\n/)
  t.match(
    report,
    `Commit ${tree.commit}, with changes that are not committed. The pin is ${pin.commit}`,
  )
  t.match(report, '- **refused**: slots\n  - `not ok 12 - ROPE: mode in slot 2`\n')
  t.match(report, '- **refused**: compiles\n  - `error: llama_n_ctx was not declared`\n')
  t.match(report, '- **not run**: parity\n')
  t.notMatch(report, 'pin.ts')
})

t.test('a report of a tree that passes says what to pin', { skip }, async (t) => {
  const npm = { package: 'node-llama-cpp@9.9.9', integrity: 'sha512-x' }
  const report = reportOf({ ...tree, ...npm }, [result('slots', 'passes')])
  t.match(report, /^# other: passes\n/)
  t.match(report, `commit: '${tree.commit}'`)
  t.match(report, "package: 'node-llama-cpp@9.9.9'")
  t.match(report, `'ggml/src/ggml-impl.h': '${pinnedHeaders['ggml/src/ggml-impl.h']}'`)
})

t.test(
  'a source that is not a folder, and cannot be fetched, is refused in one sentence',
  async (t) => {
    const script = join(root, 'dist/scripts/update-llama/main.js')
    // The repository as seen from a machine without a network.
    const gone = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.file://${t.testdir()}/.insteadOf`,
      GIT_CONFIG_VALUE_0: 'https://',
    }
    const { status, stderr } = spawnSync(process.execPath, [script, 'b1'], {
      encoding: 'utf8',
      env: { ...process.env, ...gone },
    })
    t.equal(status, 1)
    t.match(stderr, /^b1: no folder, and no branch or tag to be had of https:.*llama\.cpp\n$/m)
  },
)
