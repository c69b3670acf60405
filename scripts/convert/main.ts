/**
 * `npm run convert -- SET FOLDER`: public labelled data to rows for `oi eval` and `oi calibrate`.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { createRandom } from '../../test/helpers/random.js'
import { runCommand, UsageError, wholeNumber } from '../command.js'
import { rowsOf } from './rows.js'
import { readers } from './sets.js'

const usage = `Usage: npm run --silent convert -- banking77|clinc150 FOLDER [options] > rows.jsonl

  --part NAME      banking77: train or test (default test); clinc150: train or val (default val)
  --options N      options of each question, 2 to 255: the right one and random others (default all)
  --no-oos         clinc150: leaves out texts that fit no intent, and that option
  --limit N        at most this many rows
  --seed N         seed of the order of rows and the choice of options (default 1)

FOLDER holds the set as it is published: banking77 categories.json, train.csv, test.csv; clinc150
domains.json, train.jsonl, val.jsonl, oos_train.jsonl, oos_val.jsonl.`

const parts: Readonly<Record<string, string>> = { banking77: 'test', clinc150: 'val' }

// The reader may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      part: { type: 'string' },
      options: { type: 'string' },
      oos: { type: 'boolean', default: true },
      limit: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  })
  const [name = '', folder, ...rest] = positionals
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined
  if (read === undefined || folder === undefined || rest.length > 0) {
    throw new UsageError('Give the name of a set and its folder.')
  }
  const options =
    values.options === undefined ? undefined : wholeNumber('options', values.options, 2, 255)
  const limit = values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1)
  const seed = wholeNumber('seed', values.seed, 0, 2 ** 31 - 1)
  const set = readSet(() => read(folder, values.part ?? parts[name]!))
  const random = createRandom(seed)
  for (const line of rowsOf(set, { options, outOfScope: values.oos, limit, random })) {
    if (!process.stdout.write(`${line}\n`)) {
      await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
    }
  }
  return 0
}

/** An error in a folder is reported in one line. */
function readSet<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
