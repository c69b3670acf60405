/**
 * The output of `oi models inspect` for people.
 *
 * @module
 */

import { placementLines } from '../../opening/places-text.js'
import type { Inspection } from '../../models/inspect.js'
import { sizeText } from '../../api/words.js'
import type { PassFacts } from '../../prompt/types.js'
import type { Temperature } from '../../scoring/types.js'

const shownLabels = 12

/** One fact per line; the last line has its end. */
export function inspectionText(inspection: Inspection): string {
  const { memory, readout } = inspection
  const facts: [string, string][] = [
    ['file', inspection.file],
    ['model', inspection.description],
    ['architecture', `${inspection.architecture} (${inspection.kind})`],
    ['parameters', count(inspection.parameters)],
    ['vocabulary', `${count(inspection.vocabularySize)} tokens`],
    ['trained context', `${count(inspection.trainedContextTokens)} tokens`],
  ]
  if (readout?.pass === undefined) {
    const known = inspection.chatTemplate ? 'yes' : 'no: asked in plain text'
    facts.push(['chat template', known])
  }
  facts.push([
    'memory',
    `${sizeText(memory.total)}: weights ${sizeText(memory.weights)}, ` +
      `context of ${count(memory.contextTokens)} tokens ${sizeText(memory.context)}`,
  ])
  // In RAM alone, the line before has everything.
  if (inspection.placement.length > 1) {
    for (const line of placementLines(inspection.placement)) facts.push(['placement', line])
  }
  facts.push(['steps', `${count(inspection.stepTokens)} tokens at most`])
  if (inspection.kernels !== '') facts.push(['own kernels', inspection.kernels])
  for (const note of inspection.notes) facts.push(['note', note])
  if (inspection.randomWeights) facts.push(['weights', 'random: its answers mean nothing'])
  if (readout === undefined) {
    facts.push(['can be served', `no: ${inspection.refusal}`])
  } else {
    facts.push(['can be served', 'yes'], ['readout', readout.name])
    if (readout.decisionType !== undefined) {
      facts.push(['decision model', readout.decisionType])
    }
    if (readout.pass !== undefined) facts.push(['pass', passText(readout.pass)])
    if (readout.pass?.scale !== undefined) facts.push(['scale', String(readout.pass.scale)])
    // A classifier has labels that it does not read in a pass.
    if (readout.pass === undefined || readout.labels.length > 0) {
      facts.push(['labels', listText(readout.labels)])
    }
    facts.push(
      ['noul', noulText(readout)],
      [
        'limits',
        `${readout.maxOptions} options or levels, ${readout.maxQuestions} questions, ` +
          `${count(inspection.maxStateTokens)} tokens of state and question`,
      ],
    )
    if (readout.note !== undefined) facts.push(['note', readout.note])
    if (readout.orders !== undefined) facts.push(['orders', String(readout.orders)])
    if (readout.temperatures) facts.push(['temperatures', temperaturesText(readout.temperatures)])
  }
  const column = Math.max(...facts.map(([name]) => name.length)) + 2
  return facts.map(([name, value]) => `${name.padEnd(column)}${value}\n`).join('')
}

function passText({ template, marker, maxOptions, options }: PassFacts): string {
  if (options !== undefined) return `${oneLine(template)}; ${options}`
  if (marker === undefined) return oneLine(template)
  const most = maxOptions === undefined ? 'as many options as fit' : `${maxOptions} options at most`
  return `${oneLine(template)}, ${marker} before each option, ${most}`
}

/** Line breaks as in JSON. */
function oneLine(template: string): string {
  return template.replaceAll('\n', '\\n')
}

function noulText({ noul: { no, yes }, noulRatings, pass }: NonNullable<Inspection['readout']>) {
  if (pass?.noul !== undefined) return pass.noul
  if (noulRatings === undefined) return `yes: ${quoted(yes)}; no: ${quoted(no)}`
  return `${noulRatings} ratings, from ${quoted(no)}, a certain no, to ${quoted(yes)}, a certain yes`
}

/** `choice 1-2 options 0.85, 3-5 options 0.9; noul 1.5, yes +0.3`. */
function temperaturesText(temperatures: readonly Temperature[]): string {
  if (temperatures.length === 0) return 'none of its own'
  const types = [...new Set(temperatures.map(({ type }) => type))]
  return types
    .map((type) => {
      const rows = temperatures.filter((row) => row.type === type)
      const values = new Set(rows.map(({ temperature }) => temperature))
      const whole = values.size === 1 && rows[0]!.from === 1 && rows.at(-1)!.to === Infinity
      const { temperature, bias = 0 } = rows[0]!
      const forYes = bias === 0 ? '' : `, yes ${bias < 0 ? '' : '+'}${bias}`
      if (type === 'noul' || whole) return `${type} ${temperature}${forYes}`
      const buckets = rows.map(({ from, to, temperature }) => {
        const range = to === Infinity ? `from ${from}` : `${from}-${to}`
        return `${range} options ${temperature}`
      })
      return `${type} ${buckets.join(', ')}`
    })
    .join('; ')
}

/** Their number, and the first and the last of them. */
function listText(labels: readonly string[]): string {
  if (labels.length === 0) return 'none'
  const first = labels.slice(0, shownLabels).join(' ')
  const last = labels.length > shownLabels ? ` … ${labels.at(-1)}` : ''
  return `${labels.length}: ${first}${last}`
}

function quoted(forms: readonly string[]): string {
  return forms.map((form) => JSON.stringify(form)).join(' ')
}

function count(value: number): string {
  return value.toLocaleString('en')
}
