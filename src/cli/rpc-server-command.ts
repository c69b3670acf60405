/**
 * `oi rpc-server`: gives this machine's devices to a model that another machine serves.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { OiError } from '../errors.js'
import { isLoopback } from '../http/access/client-address.js'
import { packageRoot } from '../package-root.js'
import { printError } from '../terminal/print.js'
import { type CommandDependencies, exitCodes } from './exit-codes.js'
import { readWhole } from './input/values.js'

interface RpcServerFlags {
  readonly host: string
  readonly port: number
  readonly device?: string
  readonly threads?: number
}

const help = `
Needs an addon that was built with --rpc, here and where the model is served:

  oi rpc-server --host 10.0.0.2
  oi serve --model large.gguf --device CUDA0+rpc://10.0.0.2:50052`

const program = join('bin', 'ggml-rpc-server')

export function addRpcServerCommand(
  commands: Command,
  { environment, done }: CommandDependencies,
): void {
  commands
    .command('rpc-server')
    .description("give this machine's devices to a model that another machine serves")
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port', readWhole(1, 65_535), 50_052)
    .option('--device <names>', 'devices, as CUDA0,CUDA1; all by default')
    .option('--threads <n>', 'of the CPU as a device', readWhole(1, 512))
    .addHelpText('after', help)
    .action(async ({ host, port, device, threads }: RpcServerFlags) => {
      const path = programIn(environment)
      if (!isLoopback(host)) {
        printError(
          `Whoever reaches ${host}:${port} can use this machine's memory and devices: it asks for no key. Let only the machine that serves the model reach it.\n`,
        )
      }
      printError(`The devices of this machine are at rpc://${host}:${port}\n`)
      const args = ['--host', host, '--port', String(port)]
      if (device !== undefined) args.push('--device', device)
      if (threads !== undefined) args.push('--threads', String(threads))
      done(await runToEnd(path, args))
    })
}

/** @throws {@link OiError} `ERR_ADDON_NOT_FOUND` if there is no build with it. */
function programIn({ OI_ADDON: addon }: Readonly<Record<string, string | undefined>>): string {
  const folders = [...(addon ? [dirname(addon)] : []), join(packageRoot, 'build', 'rpc')]
  const path = folders.map((folder) => join(folder, program)).find(existsSync)
  if (path !== undefined) return path
  const command = existsSync(join(packageRoot, 'tsconfig.json'))
    ? 'npm run build -- --rpc'
    : 'oi build --rpc'
  throw new OiError(
    'ERR_ADDON_NOT_FOUND',
    `There is no ${program} in ${folders.join(' or ')}. Compile it: ${command}`,
  )
}

/** Until it ends by itself, or by a signal that this process gets. */
function runToEnd(path: string, args: readonly string[]): Promise<number> {
  const child = spawn(path, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const stop = () => child.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      resolve(signal === 'SIGTERM' ? exitCodes.ok : (code ?? exitCodes.failure))
    })
  })
}
