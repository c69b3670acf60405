/**
 * `npm run test:sanitize`: the native tests on an addon built with AddressSanitizer (and
 * UndefinedBehaviorSanitizer for our own code).
 *
 * Node itself is not instrumented, so the sanitizer's runtime is preloaded, and leaks are not
 * counted: Node frees little at its end. Lifetimes are what matters here.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildNative } from './build/native.js'
import { root } from './build/paths.js'
import { BuildError, probe } from './build/run.js'

const suites = ['dist/test/native']
/** Tools, not the addon. */
const skipped = ['make-model.test.js']

try {
  const dir = await buildNative(new Set(['sanitize'] as const))
  const runtimes = ['libasan.so', 'libubsan.so'].map((name) => {
    const path = probe(process.env['CXX'] ?? 'c++', [`-print-file-name=${name}`])
    if (!path?.startsWith('/')) throw new BuildError(`The compiler has no ${name}`)
    return path
  })
  const files = suites.flatMap((suite) =>
    readdirSync(join(root, suite))
      .filter((name) => name.endsWith('.test.js') && !skipped.includes(name))
      .map((name) => join(suite, name)),
  )
  const result = spawnSync('npx', ['tap', '--jobs=1', '--timeout=900', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      OI_ADDON: join(dir, 'oi.node'),
      LD_PRELOAD: runtimes.join(' '),
      ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=0:exitcode=66',
      UBSAN_OPTIONS: 'print_stacktrace=1',
    },
  })
  process.exitCode = result.status ?? 1
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}
