/**
 * llama-bench of the same tree: the yardstick for prompt tokens per second.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from './bench.js'
import type { ModelFile } from './model-file.js'
import type { Subject } from './rounds.js'

const run = promisify(execFile)

/** Flash attention off and on; the better one is the ceiling. */
const attentions = ['off', 'on'] as const

/** Figures of {@link llamaBench}. */
export const ceilings = {
  state: attentions.map((flash) => `llama-bench state, flash ${flash}`),
  questions: attentions.map((flash) => `llama-bench questions, flash ${flash}`),
}

/**
 * A new state, and the questions' tokens as one row after a state, each with flash attention off
 * and on.
 */
export async function llamaBench(bench: Bench): Promise<Subject> {
  const { stateTokens, questions, questionTokens } = bench.options
  const results = await program(bench, await bench.model())
  const speeds = async (names: readonly string[], ...test: string[]) =>
    (await results(...test)).map(({ flash_attn, avg_ts }) => [names[flash_attn]!, avg_ts])
  return {
    name: 'llama-bench',
    run: async () =>
      Object.fromEntries([
        ...(await speeds(ceilings.state, '-p', String(stateTokens))),
        ...(await speeds(
          ceilings.questions,
          ...['-d', String(stateTokens), '-p', String(questions * questionTokens)],
        )),
      ]) as Record<string, number>,
  }
}

/** New prompts of these lengths, each with flash attention off and on. */
export async function llamaBenchPrompts(
  bench: Bench,
  model: ModelFile,
  sizes: readonly number[],
  row: string,
): Promise<{ readonly subject: Subject; names(tokens: number): readonly string[] }> {
  const results = await program(bench, model)
  const names = (tokens: number) =>
    attentions.map((flash) => `${row}, ${tokens} tokens: llama-bench, flash ${flash}`)
  return {
    names,
    subject: {
      name: 'llama-bench',
      run: async () =>
        Object.fromEntries(
          (await results('-p', sizes.join(','))).map(({ n_prompt, flash_attn, avg_ts }) => [
            names(n_prompt)[flash_attn]!,
            avg_ts,
          ]),
        ),
    },
  }
}

interface Result {
  readonly n_prompt: number
  readonly flash_attn: number
  readonly avg_ts: number
}

/** llama-bench with this model, as a function of the measurement. */
async function program(
  bench: Bench,
  { path, threads }: ModelFile,
): Promise<(...test: string[]) => Promise<readonly Result[]>> {
  const { microbatchTokens, cacheType } = bench.options
  const file = join(await bench.tools(), 'llama-bench')
  const common = [
    ...['-m', path, '-t', String(threads), '-ub', String(microbatchTokens ?? 512)],
    ...['-ctk', cacheType, '-ctv', cacheType, '-fa', '0,1', '-n', '0', '-r', '1', '-o', 'jsonl'],
  ]
  return async (...test) => {
    const { stdout } = await run(file, [...common, ...test])
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result)
  }
}
