/**
 * `npm run build`: compiles the addon, and bundles the console.
 *
 * @module
 */

import { build } from './command.js'

const usage = `Usage: npm run build [-- options]

  --cuda, --vulkan, --metal, --hip
                    GPU backend; needs its toolkit
  --rpc             other machines as devices, and the server that oi rpc-server starts
  --cuda-arch LIST  with --cuda: compute capabilities, as 80,90 (default: this machine's GPUs)
  --portable        for any x86-64-v3 or Armv8.2 CPU instead of this machine's
  --linux-arm64     cross-compiles for Linux on arm64, with Debian's compiler
  --sanitize        with AddressSanitizer and UndefinedBehaviorSanitizer
  --sanitize-thread with ThreadSanitizer
  --clean           from an empty folder

LLAMA_CPP_DIR names another checkout of llama.cpp.
Exit codes: 0 it is built, 1 it is not.`

const flags = process.argv.slice(2)
if (flags.includes('--help') || flags.includes('-h')) console.log(usage)
else process.exitCode = await build(flags)
