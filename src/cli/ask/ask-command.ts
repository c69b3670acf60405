/**
 * `oi ask`: one request, answered by a model loaded for it, or by a server.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import { parseJson } from '../../api/json.js'
import { readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { answerTable } from './answer-table.js'
import { type AskInput, readAskInput } from './ask-input.js'
import { askServer, readOrders, requireKey } from './ask-server.js'
import type { Dependencies } from '../../server/dependencies.js'
import { loadModel, modelSettings } from '../load-model.js'
import {
  type NamedQuestion,
  questionFlags,
  type QuestionType,
  readQuestionFlag,
} from './question-flags.js'
import { modelToOpen } from '../../opening/models-to-open.js'
import { print, printError } from '../output/print.js'
import { addSettings } from '../input/setting-options.js'
import { together } from '../input/values.js'

type AskFlags = Omit<AskInput, 'state' | 'asked' | 'images'> & {
  readonly image?: readonly string[]
  readonly json?: boolean
  readonly evidence?: boolean
  readonly url?: string
  readonly key?: string
} & Partial<Record<(typeof modelSettings)[number], string>>

const help = `
A question is named by one word before a "=", else q1, q2, …; "\\" takes the special meaning from
a ",", ":" or "=" behind it:

  oi ask "I was charged twice, please help today." \\
    --noul "money=Is this about a payment?" \\
    --choice "team=Which team?=billing,technical:faults of the product,other" \\
    --score "urgency=How urgent is it?=can wait,this week,today"

  oi ask --state-file mail.txt --questions questions.json --json
  oi ask --image cat.png --noul "Is this a cat?" --mmproj projector.gguf
  oi ask --request body.json --url http://localhost:8080 --key oi-…`

export function addAskCommand(program: Command, dependencies: Dependencies): void {
  const asked: NamedQuestion[] = []
  const ask = program
    .command('ask')
    .description('ask about one state, without a server')
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
    .option('--json', 'print the body of the reply')
    .option(
      '--evidence',
      'add the total probability of all answers, and the effect of the order of options',
    )
    .option('--url <address>', 'ask a running server instead of loading a model')
    .option('--key <key>', 'key for --url (OI_KEY)')
    .addHelpText('after', help)
  addSettings(ask, modelSettings).action(async (state: string | undefined, flags: AskFlags) => {
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
  const opened = await loadModel(model, dependencies)
  try {
    if (opened.warning !== undefined) printError(`${opened.warning}\n`)
    const decision = await opened.decider.decide(request, { evidence: flags.evidence ?? false })
    return wire.serializeDecision(decision)
  } finally {
    await opened.close()
  }
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
