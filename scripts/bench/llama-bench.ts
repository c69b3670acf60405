/**
 * llama-bench of the same tree: the yardstick for prompt tokens per second.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from './bench.js'
import type { Subject } from './rounds.js'

const run = promisify(execFile)

/** The states of flash attention; the better one is the ceiling. */
const attentions = ['off', 'on'] as const

/** Figures of {@link llamaBench}, by what they tell. */
export const ceilings = {
  state: attentions.map((flash) => `llama-bench state, flash ${flash}`),
  questions: attentions.map((flash) => `llama-bench questions, flash ${flash}`),
}

/**
 * A state of its own, and the questions' tokens as one row behind a state, each with flash
 * attention off and on.
 */
export async function llamaBench(bench: Bench): Promise<Subject> {
  const { stateTokens, questions, questionTokens, microbatchTokens, cacheType } = bench.options
  const program = join(await bench.tools(), 'llama-bench')
  const { path, threads } = await bench.model()
  const common = [
    ...['-m', path, '-t', String(threads), '-ub', String(microbatchTokens)],
    ...['-ctk', cacheType, '-ctv', cacheType, '-fa', '0,1', '-n', '0', '-r', '1', '-o', 'jsonl'],
  ]
  const speeds = async (names: readonly string[], ...test: string[]) => {
    const { stdout } = await run(program, [...common, ...test])
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { flash_attn: number; avg_ts: number })
    return results.map(({ flash_attn, avg_ts }) => [names[flash_attn]!, avg_ts])
  }
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
