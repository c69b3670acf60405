/**
 * `oi eval`: measures the answers of a model on questions whose right answers are known.
 *
 * @module
 */

import type { Command } from 'commander'
import { addSettings } from '../input/setting-options.js'
import { addTableFlags } from '../input/table-flags.js'
import { readAmount, readWhole, together } from '../input/values.js'
import type { CommandDependencies } from '../exit-codes.js'
import { modelSettings } from '../load-model.js'
import { mostAtOnce, type SubjectFlags, subjectOf } from '../open-subject.js'
import { evaluateFile, requireOneRun } from './eval-run.js'
import type { EvalOptions } from './measured-run.js'

type EvalFlags = EvalOptions & Omit<SubjectFlags, 'model'> & { readonly model?: readonly string[] }

const help = `
Each line of the file, or item of a JSON array, is a request body with the right answers beside it: true or false for a noul,
an option's name for a choice, a level from 0 for a score:

  {"state": …, "questions": {"money": {"type": "noul", …}}, "expected": {"money": true}}

A first Ctrl-C ends it with the figures so far. With --resume, the same command goes on later.
Exit code 1: it was ended early, or the model refused rows.

  oi eval rows.jsonl --model model.gguf --html report.html
  oi eval rows.jsonl --url http://localhost:8080 --key oi-… --flips --resume run.jsonl
  oi eval rows.jsonl --model new.gguf --model old.gguf --html report.html
  oi eval rows.jsonl --model other.gguf --against run.jsonl
  oi eval rows.csv --questions questions.json --state text --expected team --rows-out out.csv`

export function addEvalCommand(program: Command, dependencies: CommandDependencies): void {
  const evaluation = program
    .command('eval')
    .description('measure the answers of a model on questions whose right answers are known')
    .argument(
      '<file>',
      'labelled rows: JSONL, a JSON array or a table, also .gz; - reads standard input',
    )
    .option('--flips', 'ask choices and scores again with reversed options')
    .option('--other <option>', 'a catch-all option; can be repeated', together)
    .option('--limit <n>', 'only the first rows', readWhole(1, Number.MAX_SAFE_INTEGER))
    .option('--concurrency <n>', 'rows at the same time', readWhole(1, mostAtOnce), 16)
    .option('--resume <file>', 'keep results in this file, and continue from them')
    .option('--against <file>', 'compare with another run, kept by its --resume')
    .option('--input-price <credits>', 'of a million input tokens, for the cost', readAmount)
    .option('--output-price <credits>', 'of a million output tokens', readAmount)
    .option('--image-price <credits>', 'of a million image tokens', readAmount)
    .option('--json', 'print the report as JSON')
    .option('--html <file>', 'also write the report as a page with plots')
    .option('--rows-out <file>', 'also write each row with its answers, and whether they are right')
    .option('--url <address>', 'ask a running server instead of loading a model')
    .option('--key <key>', 'key for --url (OI_KEY)')
    .addHelpText('after', help)
  addSettings(addTableFlags(evaluation), modelSettings).action(
    async (file: string, flags: EvalFlags) => {
      const { model: models = [], ...others } = flags
      requireOneRun(flags, models)
      const open = (models.length > 0 ? models : [undefined]).map((model) =>
        subjectOf({ ...others, ...(model !== undefined && { model }) }, dependencies, true),
      )
      dependencies.done(await evaluateFile(file, open, flags, dependencies))
    },
  )
  const model = evaluation.options.find((option) => option.attributeName() === 'model')!
  model.argParser(together).description += '; a second one is compared with the first'
}
