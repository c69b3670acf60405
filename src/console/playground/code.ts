/**
 * A request as code: shell, JavaScript, Python.
 *
 * @module
 */

import { type Json, stringifyJson } from '../../api/json-value.js'
import { shellWord } from '../../api/words.js'
import { prettyJson, readJson } from './json-text.js'

export type Language = 'curl' | 'typescript' | 'python'

export interface CodeInput {
  /** As `https://oi.example.org`. */
  readonly origin: string
  /** The JSON of the request. */
  readonly body: string
  /** The value of `x-oi-orders`; undefined: the model's setting. */
  readonly orders: string | undefined
  readonly evidence: boolean
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
  curl({ origin, body, orders, evidence }) {
    const headers = [
      '"Authorization: Bearer $OI_KEY"',
      "'Content-Type: application/json'",
      ...(orders === undefined ? [] : [`'x-oi-orders: ${orders}'`]),
      ...(evidence ? ["'x-oi-evidence: 1'"] : []),
    ]
    // Read from standard input: an argument holds 128 KiB at most, and images are longer.
    return [
      `curl ${shellWord(`${origin}/v1/systemone`)} \\`,
      ...headers.map((header) => `  -H ${header} \\`),
      `  --data-binary @- <<'JSON'`,
      pretty(body),
      'JSON',
    ].join('\n')
  },

  typescript({ origin, body, orders, evidence }) {
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
    ].join('\n')
  },

  python({ origin, body, orders, evidence }) {
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
      '    print(json.load(reply)["answers"])',
    ].join('\n')
  },
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
