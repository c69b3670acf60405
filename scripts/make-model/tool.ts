/**
 * Builds and runs `oi-make-model`, the program in `native/tools/` that writes GGUF models
 * of random weights.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'
import { llamaTree } from '../build/vendor.js'

export interface ModelOptions {
  /** `F32`, `F16`, `BF16` or a quantization; by default {@link defaultType} of the name. */
  readonly type?: string | undefined
  /** Whole number from 0; 1 by default. Another seed gives other weights. */
  readonly seed?: number | undefined
  /** NAME of a vendored `ggml-vocab-NAME.gguf`; by default the model's own. */
  readonly vocab?: string | undefined
  /** `chatml`, `always-thinks`, `llama3`, `none` or a file; by default the model's own. */
  readonly template?: string | undefined
  /** Type of a decision model, as `openjev`: with its metadata, and a template if it has one. */
  readonly decision?: string | undefined
}

/** The tool ended with an error; the message is its output, in one line. */
export class ToolError extends BuildError {
  constructor(
    message: string,
    /** 1: a wrong value or a failure; 2: wrong usage. */
    override readonly exitCode: number,
  ) {
    super(message)
  }
}

/** Fixtures are for exactness, shape models for speed. */
export function defaultType(name: string): string {
  return name.startsWith('fixture-') ? 'F32' : 'BF16'
}

let built: Promise<string> | undefined

/**
 * Builds the tool, once in a process and only if it is not up to date.
 *
 * @returns Its path.
 */
export function buildTool(): Promise<string> {
  built ??= buildNative(new Set(), ['oi-make-model']).then((dir) => join(dir, 'oi-make-model'))
  return built
}

/**
 * Writes a model to `path`, which appears when the file is whole.
 *
 * @param show - Whether progress goes to the terminal, if there is one.
 * @throws {@link ToolError} for an unknown name, type, vocabulary or template, and for a
 *   path that cannot be written; {@link BuildError} if the tool cannot be built.
 */
export async function writeModel(
  name: string,
  path: string,
  options: ModelOptions,
  show: boolean,
): Promise<void> {
  const tree = await llamaTree()
  const args = [
    ...['--type', options.type ?? defaultType(name)],
    ...['--seed', String(options.seed ?? 1)],
    ...['--vocab-dir', join(tree.dir, 'models')],
    ...(options.vocab === undefined ? [] : ['--vocab', options.vocab]),
    ...(options.template === undefined ? [] : ['--template', options.template]),
    ...(options.decision === undefined ? [] : ['--decision', options.decision]),
    ...['--', name, path],
  ]
  await runTool(args, show)
}

/** Prints the names and types that the tool knows. */
export async function listModels(): Promise<void> {
  await runTool(['--list'], true)
}

async function runTool(args: readonly string[], show: boolean): Promise<void> {
  const tool = await buildTool()
  await new Promise<void>((resolve, reject) => {
    const child = spawn(tool, args, { stdio: ['ignore', show ? 'inherit' : 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', (error) => reject(new ToolError(`${tool}: ${error.message}`, 1)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new ToolError(errors.trim() || `${tool} ended with ${signal ?? code}`, code ?? 1))
    })
  })
}
