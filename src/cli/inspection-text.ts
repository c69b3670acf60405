/**
 * What `oi models inspect` shows to people.
 *
 * @module
 */

import type { Inspection } from '../models/inspect.js'

const shownLabels = 12

/** One fact per line, the last line ended. */
export function inspectionText(inspection: Inspection): string {
  const { memory, readout } = inspection
  const facts: [string, string][] = [
    ['file', inspection.file],
    ['model', inspection.description],
    ['architecture', `${inspection.architecture} (${inspection.kind})`],
    ['parameters', count(inspection.parameters)],
    ['vocabulary', `${count(inspection.vocabularySize)} tokens`],
    ['trained context', `${count(inspection.trainedContextTokens)} tokens`],
    ['chat template', inspection.chatTemplate ? 'yes' : 'no: asked in plain text'],
    [
      'memory',
      `${size(memory.total)}: weights ${size(memory.weights)}, ` +
        `context of ${count(memory.contextTokens)} tokens ${size(memory.context)}`,
    ],
  ]
  if (inspection.randomWeights) facts.push(['weights', 'random: its answers mean nothing'])
  if (readout === undefined) {
    facts.push(['can be served', `no: ${inspection.refusal}`])
  } else {
    const { no, yes } = readout.noul
    facts.push(
      ['can be served', 'yes'],
      ['readout', readout.name],
      ['labels', `${readout.labels.length}: ${firstOf(readout.labels)}`],
      ['noul', `yes: ${quoted(yes)}; no: ${quoted(no)}`],
      [
        'limits',
        `${readout.maxOptions} options or levels, ${readout.maxQuestions} questions, ` +
          `${count(memory.contextTokens)} tokens of state and question`,
      ],
    )
  }
  const column = Math.max(...facts.map(([name]) => name.length)) + 2
  return facts.map(([name, value]) => `${name.padEnd(column)}${value}\n`).join('')
}

function firstOf(labels: readonly string[]): string {
  const first = labels.slice(0, shownLabels).join(' ')
  return labels.length > shownLabels ? `${first} … ${labels.at(-1)}` : first
}

function quoted(forms: readonly string[]): string {
  return forms.map((form) => JSON.stringify(form)).join(' ')
}

function count(value: number): string {
  return value.toLocaleString('en')
}

function size(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : `${(bytes / 1e6).toFixed(1)} MB`
}
