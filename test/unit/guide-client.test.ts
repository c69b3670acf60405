/** The examples of the client's guide and of the README are compiled strictly, and run. */
import t from 'tap'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { packageRoot } from '../../src/package-root.js'
import { blocks, readGuide } from '../helpers/guides.js'
import { play, withHttpServer } from '../helpers/http-server.js'

const examplesOf = (path: string) => blocks(readGuide(path), 'ts')

/** The compiler's output; writes `examples.mjs` beside the file. */
function compile(path: string): string[] {
  const program = ts.createProgram([path], {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(packageRoot, 'node_modules/@types')],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  })
  const { diagnostics } = program.emit()
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n'),
  )
}

async function run(directory: string) {
  const child = spawn(process.execPath, ['examples.mjs'], { cwd: directory })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => (stdout += data))
  child.stderr.on('data', (data) => (stderr += data))
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

t.test('the README’s example of the client compiles', async (t) => {
  const path = join(t.testdir({ 'example.mts': examplesOf('README.md').join('\n') }), 'example.mts')
  t.strictSame(compile(path), [])
})

t.test('the examples of the client compile and do what the guide says', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const directory = t.testdir({ 'receipt.png': 'a picture' })
    const path = join(directory, 'examples.mts')
    const examples = examplesOf('src/client/README.md')
    const source = examples.join('\n')
    t.equal(examples.length, 4)
    writeFileSync(path, source.replace('http://localhost:8080', url).replace('oi-…', 'oi-key'))
    t.strictSame(compile(path), [])
    const { code, stdout, stderr } = await run(directory)
    t.equal(stderr, '')
    t.equal(code, 0)
    t.match(stdout, /^0\.75 billing 0\.5\n0\.75\n0\.75\nHow do I change my name\? 0\.75\nOur shop /)
    t.strictSame(
      received.map(({ path }) => path.replace('/v1/systemone', '')),
      ['', '/batch', '/batch', '', ''],
    )
    t.match(JSON.parse(received[3]!.body), { state: { photo: { max_pixels: 500_000 } } })
  }),
)
