/**
 * A request as code: shell, JavaScript, Python.
 *
 * @module
 */

import { entriesOf, isJsonObject, type Json, stringifyJson } from '../../api/json-value.js'
import { shellWord } from '../../api/words.js'
import { prettyJson, readJson } from './json-text.js'
import { type Threshold, thresholdOf, type Thresholds } from './threshold.js'

export type Language = 'curl' | 'typescript' | 'python'

export interface CodeInput {
  /** As `https://oi.example.org`. */
  readonly origin: string
  /** The JSON of the request. */
  readonly body: string
  /** The value of `x-oi-orders`; undefined: the model's setting. */
  readonly orders: string | undefined
  readonly evidence: boolean
  readonly thresholds: Thresholds
}

export const languages: readonly { value: Language; text: string }[] = [
  { value: 'curl', text: 'curl' },
  { value: 'typescript', text: 'TypeScript' },
  { value: 'python', text: 'Python' },
]

export function codeFor(language: Language, input: CodeInput): string {
  return writers[language](input)
}

const writers: Readonly<Record<Language, (input: CodeInput) => string>> = {
  curl({ origin, body, orders, evidence, thresholds }) {
    const headers = [
      '"Authorization: Bearer $OI_KEY"',
      "'Content-Type: application/json'",
      ...(orders === undefined ? [] : [`'x-oi-orders: ${orders}'`]),
      ...(evidence ? ["'x-oi-evidence: 1'"] : []),
    ]
    // Read from standard input: an argument holds 128 KiB at most, and images are longer.
    return [
      ...nouls(body, thresholds).map(({ name, act, refuse }) => {
        const shown = JSON.stringify(name)
        return `# ${shown}: act from ${act} on, refuse below ${refuse}, ask a person in between`
      }),
      `curl ${shellWord(`${origin}/v1/systemone`)} \\`,
      ...headers.map((header) => `  -H ${header} \\`),
      `  --data-binary @- <<'JSON'`,
      pretty(body),
      'JSON',
    ].join('\n')
  },

  typescript({ origin, body, orders, evidence, thresholds }) {
    const options = [
      ...(orders === undefined ? [] : [`orders: ${orders === 'all' ? "'all'" : orders}`]),
      ...(evidence ? ['evidence: true'] : []),
    ]
    const second = options.length === 0 ? '' : `, { ${options.join(', ')} }`
    const call = survivesObjects(body)
      ? `const { answers } = await client.decide(${pretty(body)}${second})`
      : `const { answers } = JSON.parse(await client.decideText(${JSON.stringify(body)}${second}))`
    return [
      "import { createClient } from 'oi-systemone/client'",
      '',
      'const client = createClient({',
      `  baseUrl: ${JSON.stringify(origin)},`,
      '  apiKey: process.env.OI_KEY!,',
      '})',
      call,
      'console.log(answers)',
      ...withThresholds(
        nouls(body, thresholds),
        [
          '',
          '/** What to do with a probability of yes. */',
          'const next = (p: number, act: number, refuse: number) =>',
          "  p >= act ? 'act' : p < refuse ? 'refuse' : 'ask a person'",
        ],
        ({ name, act, refuse }) => {
          const shown = JSON.stringify(name)
          return `console.log(${shown}, next(answers[${shown}].noul, ${act}, ${refuse}))`
        },
      ),
    ].join('\n')
  },

  python({ origin, body, orders, evidence, thresholds }) {
    const headers = [
      `    "Authorization": "Bearer " + os.environ["OI_KEY"],`,
      `    "Content-Type": "application/json",`,
      ...(orders === undefined ? [] : [`    "x-oi-orders": "${orders}",`]),
      ...(evidence ? ['    "x-oi-evidence": "1",'] : []),
    ]
    return [
      'import json, os, urllib.request',
      '',
      `body = ${pythonLiteral(readJson(body))}`,
      'request = urllib.request.Request(',
      `    ${JSON.stringify(`${origin}/v1/systemone`)},`,
      '    data=json.dumps(body).encode(),',
      '    headers={',
      ...headers.map((line) => `    ${line}`),
      '    },',
      ')',
      'with urllib.request.urlopen(request) as reply:',
      '    answers = json.load(reply)["answers"]',
      'print(answers)',
      ...withThresholds(
        nouls(body, thresholds),
        [
          '',
          '# What to do with a probability of yes.',
          'def next_step(p, act, refuse):',
          '    return "act" if p >= act else "refuse" if p < refuse else "ask a person"',
          '',
        ],
        ({ name, act, refuse }) => {
          const shown = JSON.stringify(name)
          return `print(${shown}, next_step(answers[${shown}]["noul"], ${act}, ${refuse}))`
        },
      ),
    ].join('\n')
  },
}

interface NamedThreshold extends Threshold {
  readonly name: string
}

/** The nouls of a body, and their thresholds. */
function nouls(body: string, thresholds: Thresholds): NamedThreshold[] {
  const request = readJson(body)
  const questions = isJsonObject(request) ? request['questions'] : undefined
  if (!isJsonObject(questions)) return []
  return entriesOf(questions).flatMap(([name, question]) =>
    isJsonObject(question) && question['type'] === 'noul'
      ? [{ name, ...thresholdOf(thresholds, name) }]
      : [],
  )
}

function withThresholds(
  nouls: readonly NamedThreshold[],
  head: readonly string[],
  line: (noul: NamedThreshold) => string,
): readonly string[] {
  return nouls.length === 0 ? [] : [...head, ...nouls.map(line)]
}

/**
 * Whether JavaScript objects keep the body: they move names like `7` first, and print `1.0` as `1`.
 */
function survivesObjects(body: string): boolean {
  return JSON.stringify(JSON.parse(body)) === stringifyJson(readJson(body))
}

const pretty = (body: string): string => prettyJson(readJson(body))

/** JSON is valid Python except for three names, which are replaced outside of strings. */
function pythonLiteral(value: Json): string {
  const names: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  return prettyJson(value).replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => names[token] ?? token,
  )
}
