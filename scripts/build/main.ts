/**
 * `npm run build`: compiles the addon, and bundles the console.
 *
 * @module
 */

import { build } from './command.js'

const usage = `Usage: npm run build [-- options]

  --cuda, --vulkan, --metal, --hip
                    for that kind of GPU, with its toolkit installed
  --cuda-arch LIST  with --cuda: for these GPUs, as 80,90, instead of this machine's
  --portable        for x86-64-v3 or Armv8.2 instead of exactly this machine
  --linux-arm64     for Linux on arm64, with Debian's cross compiler
  --sanitize        with AddressSanitizer and UndefinedBehaviorSanitizer
  --sanitize-thread with ThreadSanitizer
  --clean           from an empty folder

LLAMA_CPP_DIR names another checkout of llama.cpp.
The exit code is 0 if it is built.`

const flags = process.argv.slice(2)
if (flags.includes('--help') || flags.includes('-h')) console.log(usage)
else process.exitCode = await build(flags)
