/**
 * `oi ask`: one request, or those of a file's rows, answered by a model loaded for it, or by a server.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import { parseJson } from '../../api/json.js'
import { checkRequest } from '../../api/read-request.js'
import { readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { answerTable } from './answer-table.js'
import { type AskInput, readAskInput, readQuestions } from './ask-input.js'
import { askRowsFile, type AskRowsOptions } from './ask-rows.js'
import { askServer, readOrders, requireKey } from './ask-server.js'
import type { Dependencies } from '../../server/dependencies.js'
import type { CommandDependencies } from '../exit-codes.js'
import { loadModel, modelSettings, withOpened } from '../load-model.js'
import {
  type NamedQuestion,
  questionFlags,
  type QuestionType,
  readQuestionFlag,
} from './question-flags.js'
import { modelToOpen } from '../../opening/models-to-open.js'
import { mostAtOnce, type SubjectFlags, subjectOf } from '../open-subject.js'
import { print } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { rowLimits, usualState } from '../input/table-flags.js'
import { readWhole, together } from '../input/values.js'

type AskFlags = Omit<AskInput, 'state' | 'asked' | 'images'> &
  Partial<AskRowsOptions> &
  SubjectFlags & { readonly image?: readonly string[] }

const help = `
A question is named by one word before a "=", else q1, q2, …; "\\" takes the special meaning from
a ",", ":" or "=" behind it:

  oi ask "I was charged twice, please refund one payment." \\
    --noul "money=Is this about a payment?" \\
    --choice "team=Which team?=billing,technical:faults of the product,other" \\
    --score "urgency=How urgent is it?=can wait,this week,today"

  oi ask --state-file mail.txt --questions questions.json --json
  oi ask --image cat.png --noul "Is this a cat?" --mmproj projector.gguf
  oi ask --request body.json --url http://localhost:8080 --key oi-…

With --rows, the questions are asked about each row of a table (CSV, TSV, of Excel too), of JSON lines
or of a JSON array; without questions, each row is a whole request. The answers stand behind each row:

  oi ask --rows tickets.csv --questions questions.json --resume asked.jsonl > answered.csv`

export function addAskCommand(program: Command, dependencies: CommandDependencies): void {
  const asked: NamedQuestion[] = []
  const ask = program
    .command('ask')
    .description('ask about one state, or about each row of a file')
    .argument('[state]', 'text that the questions are about; - or nothing reads standard input')
    .option('--state-file <file>', 'read the state from a file')
    .option('--json-state', 'the state is JSON')
    .option('--image <file>', 'an image before the state; repeatable', together)
  for (const [type, { placeholder, description }] of Object.entries(questionFlags)) {
    const option = new Option(`--${type} <${placeholder}>`, `${description}; can be repeated`)
    // Collected here and not by the option: the order of questions is that of all flags.
    ask.addOption(
      option.argParser((value) => asked.push(readQuestionFlag(type as QuestionType, value))),
    )
  }
  ask
    .option('--questions <file|json>', 'questions as in a request: {"name": {"type": …}, …}')
    .option('--request <file>', 'a whole request body; - reads standard input')
    .option('--json', 'print the body of the reply; of rows, JSON lines')
    .option(
      '--evidence',
      'add the total probability of all answers, and the effect of the order of options',
    )
    .option('--url <address>', 'ask a running server instead of loading a model')
    .option('--key <key>', 'key for --url (OI_KEY)')
    .option('--rows <file>', 'rows to ask about; - reads standard input')
    .option(
      '--state <column>',
      `of rows: column of the state (default: ${usualState}); repeatable`,
      together,
    )
    .option('--limit <n>', 'of rows: only the first', readWhole(1, Number.MAX_SAFE_INTEGER))
    .option(
      '--concurrency <n>',
      'of rows: asked at the same time (default: 16)',
      readWhole(1, mostAtOnce),
    )
    .option('--resume <file>', 'of rows: keep answers in this file, and continue from them')
    .addHelpText('after', help)
  addSettings(ask, modelSettings).action(async (state: string | undefined, flags: AskFlags) => {
    if (flags.rows !== undefined) {
      dependencies.done(await askRows({ ...flags, rows: flags.rows }, state, asked, dependencies))
      return
    }
    requireUnset(flags, ofRows, (flag) => `${flag} needs --rows <file>`)
    const body = await readAskInput({ ...flags, images: flags.image ?? [], state, asked })
    const text =
      flags.url === undefined
        ? await askModel(body, flags, dependencies)
        : await askServer({
            url: flags.url,
            key: requireKey(flags, dependencies),
            body,
            evidence: flags.evidence ?? false,
            orders: readOrders(flags),
          })
    if (flags.json) print(`${text}\n`)
    else {
      const colours = process.stdout.isTTY && !dependencies.environment['NO_COLOR']
      print(answerTable(parseReply(text), parseJson(body), { colours }))
    }
  })
}

/** Flags of one request alone, and of rows alone. */
const ofOne = ['stateFile', 'jsonState', 'request', 'image'] as const
const ofRows = ['state', 'limit', 'concurrency', 'resume'] as const

function requireUnset(
  flags: AskFlags,
  names: readonly (keyof AskFlags)[],
  rule: (flag: string) => string,
): void {
  const name = names.find((each) => flags[each] !== undefined)
  if (name === undefined) return
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw new OiError('ERR_CONFIG', rule(flag))
}

async function askRows(
  flags: AskFlags & { readonly rows: string },
  state: string | undefined,
  asked: readonly NamedQuestion[],
  dependencies: Dependencies,
): Promise<number> {
  if (state !== undefined) {
    throw new OiError('ERR_CONFIG', '--rows has the states: leave out the argument')
  }
  requireUnset(flags, ofOne, (flag) => `--rows has the states: leave out ${flag}`)
  const isAsked = flags.questions !== undefined || asked.length > 0
  const read = isAsked ? await readQuestions({ ...flags, asked }) : undefined
  if (read === undefined && flags.state !== undefined) {
    throw new OiError(
      'ERR_CONFIG',
      '--state needs a question: --questions, --noul, --choice, --score',
    )
  }
  const questions = read && checkRequest({ state: '', questions: read }, rowLimits).questions
  const open = subjectOf(flags, dependencies, flags.evidence ?? false)
  return askRowsFile(flags, questions, open, dependencies)
}

async function askModel(
  body: string,
  flags: AskFlags,
  dependencies: Dependencies,
): Promise<string> {
  const chosen = Object.fromEntries(modelSettings.map((name) => [name, flags[name]]))
  const config = readConfig(dependencies.environment, chosen)
  const model = modelToOpen(config)
  const wire = dependencies.createWire(config)
  // Before the model is loaded: errors of the request should show at once.
  const request = await wire.readRequest(body, { evidence: flags.evidence ?? false, scope: '' })
  return withOpened(loadModel(model, dependencies), async ({ decider }) =>
    wire.serializeDecision(await decider.decide(request, { evidence: flags.evidence ?? false })),
  )
}

function parseReply(text: string) {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new OiError('ERR_REMOTE', 'The reply is not JSON: is this an address of oi serve?', {
      cause,
    })
  }
}
