/**
 * The addon under AddressSanitizer, in a Node that is not instrumented.
 *
 * @module
 */

import { join } from 'node:path'
import { buildNative } from './native.js'
import { BuildError, probe } from './run.js'

/** How many times slower than without a sanitizer code may be, at most. */
export const sanitizedSlowness = 5

/**
 * Builds the addon with AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 * @returns The environment for a Node process that uses it. The sanitizers' runtimes are preloaded;
 *   leaks are not counted, because Node frees little at its end.
 * @throws {@link BuildError} If the compiler has no such runtime.
 */
export async function buildSanitizedAddon(): Promise<Record<string, string>> {
  const dir = await buildNative(new Set(['sanitize'] as const))
  const runtimes = ['libasan.so', 'libubsan.so'].map((name) => {
    const path = probe(process.env['CXX'] ?? 'c++', [`-print-file-name=${name}`])
    if (!path?.startsWith('/')) throw new BuildError(`The compiler has no ${name}`)
    return path
  })
  return {
    OI_ADDON: join(dir, 'oi.node'),
    LD_PRELOAD: runtimes.join(' '),
    ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=0:exitcode=66',
    UBSAN_OPTIONS: 'print_stacktrace=1',
  }
}
