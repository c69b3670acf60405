/**
 * The file of a readout: JSON, or a template alone.
 *
 * Every field of the JSON is optional; missing fields are as in `letters@1`:
 *
 * ```json
 * {
 *   "name": "support@2",
 *   "template": "…", "templateFile": "frame.jinja",
 *   "wording": { "choice": "…", "option": "…", "score": "…", "level": "…", "noul": "…" },
 *   "labels": ["1", "2"], "labelPrefix": " ",
 *   "noul": { "yes": ["Yes", " yes"], "no": ["No"] },
 *   "temperature": 1.3,
 *   "orders": 2
 * }
 * ```
 *
 * @module
 */

import { parseJsonFile } from '../../api/file-text.js'
import { isJsonObject, type Json } from '../../api/json.js'
import { mostOptions } from '../../api/limits.js'
import { allOrders, expectedOrders, type Orders } from '../../api/orders.js'
import { OiError } from '../../errors.js'
import { compileJinja, keepLastBreak } from '../jinja.js'
import { naming } from './faults.js'
import { distinctTexts, objectAt, refusal, textAt } from './fields.js'
import { frameLayout } from './frame.js'
import { readTemperatures } from './read-temperatures.js'
import type { CustomReadout, NoulForms } from './types.js'
import { variablesOf } from './variables.js'
import { createWording, wordingNames } from './wording.js'

/** A readout without the facts that the file system has. */
type ReadoutContent = Omit<CustomReadout, 'file' | 'name'> & {
  readonly name: string | undefined
}

const keys = [
  ...['name', 'template', 'templateFile', 'wording', 'labels', 'labelPrefix', 'noul'],
  ...['temperature', 'orders'],
]

/**
 * @param readTemplate - The text of the file that `templateFile` names.
 * @throws {@link OiError} `ERR_READOUT` naming the place and what is expected there.
 */
export function parseReadout(text: string, readTemplate: (path: string) => string): ReadoutContent {
  const json = objectAt('', parseText(text), keys)
  return {
    name: readName(json['name']),
    template: readTemplateOf(json['template'], json['templateFile'], readTemplate),
    wording: readWording(json['wording'], json['noul']),
    labels: readLabels(json['labels']),
    labelPrefix: readLabelPrefix(json['labelPrefix']),
    noul: readNoul(json['noul']),
    temperatures: readTemperatures(json['temperature']),
    orders: readOrders(json['orders']),
  }
}

/** A template alone: everything else is as in `letters@1`. @throws As {@link parseReadout}. */
export function parseTemplateReadout(source: string): ReadoutContent {
  return { ...parseReadout('{}', () => ''), template: templateOf(source) }
}

function parseText(text: string): Json {
  try {
    return parseJsonFile(text)
  } catch (cause) {
    throw refusal('', (cause as OiError).message)
  }
}

const namePattern = /^[A-Za-z0-9._-]{1,48}(?:@[A-Za-z0-9._-]{1,15})?$/

function readName(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined
  const name = textAt('name', value)
  if (!namePattern.test(name)) {
    throw refusal('name', 'expected letters, digits, ".", "_" and "-", as in "support@2"')
  }
  if (/^letters(?:@|$)/.test(name)) {
    throw refusal('name', 'letters is the readout that models have by themselves: expected another')
  }
  return name
}

function readTemplateOf(
  inline: Json | undefined,
  path: Json | undefined,
  readTemplate: (path: string) => string,
): CustomReadout['template'] {
  if (inline !== undefined && path !== undefined) {
    throw refusal('template', 'expected template or templateFile, got both')
  }
  if (inline !== undefined) {
    const source = textAt('template', inline)
    return naming('template', () => templateOf(keepLastBreak(source)))
  }
  if (path === undefined) return undefined
  const file = textAt('templateFile', path)
  return naming(`templateFile ${file}`, () => templateOf(readTemplate(file)))
}

const unknownTokens = { bosToken: 'bos_token', eosToken: 'eos_token' }

function templateOf(source: string): NonNullable<CustomReadout['template']> {
  const variables = variablesOf(compileJinja(source).parsed)
  if (!variables.has('messages')) {
    // Once without a model, so that faults are found before a model is loaded.
    frameLayout(source, unknownTokens)
    return { kind: 'frame', source }
  }
  if (variables.has('state') || variables.has('question')) {
    throw new OiError('ERR_READOUT', 'expected either messages, or state and question, got both')
  }
  return { kind: 'chat', source }
}

function readWording(
  value: Json | undefined,
  noul: Json | undefined,
): CustomReadout['wording'] | undefined {
  const given = value === undefined ? {} : objectAt('wording', value, wordingNames)
  requireNoulWording(noul, given['noul'])
  if (value === undefined) return undefined
  const texts = Object.entries(given).map(([name, text]) => [name, textAt(`wording.${name}`, text)])
  return createWording(Object.fromEntries(texts) as Record<string, string>)
}

/** The standard wording asks for the words Yes and No: the forms that are read must be these. */
function requireNoulWording(noul: Json | undefined, wording: Json | undefined): void {
  if (wording !== undefined || !isJsonObject(noul)) return
  const { yes, no } = readNoul(noul)!
  for (const [forms, word] of [[yes, 'yes'] as const, [no, 'no'] as const]) {
    const other = forms.find((form) => form.trim().toLowerCase() !== word)
    if (other === undefined) continue
    throw refusal(
      `noul.${word}`,
      `${JSON.stringify(other)} is read, but the question asks for Yes or No: expected a ` +
        'wording.noul that asks for it',
    )
  }
}

const longestLabel = 40

function readLabels(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined
  const labels = distinctTexts('labels', value, 2, mostOptions)
  for (const [i, label] of labels.entries()) {
    if (label.trim() === label && !/\s/.test(label) && label.length <= longestLabel) continue
    throw refusal(`labels[${i}]`, `expected 1 to ${longestLabel} characters without white space`)
  }
  return labels
}

function readLabelPrefix(value: Json | undefined): '' | ' ' | undefined {
  if (value === undefined || value === '' || value === ' ') return value
  throw refusal('labelPrefix', 'expected "" or " "')
}

function readOrders(value: Json | undefined): Orders | undefined {
  if (value === undefined) return undefined
  const orders = allOrders.find((one) => one === value)
  if (orders !== undefined) return orders
  throw refusal('orders', `expected ${expectedOrders}`)
}

function readNoul(value: Json | undefined): NoulForms | undefined {
  if (value === undefined) return undefined
  const { yes, no } = objectAt('noul', value, ['yes', 'no'])
  const forms = {
    yes: distinctTexts('noul.yes', yes, 1, mostForms),
    no: distinctTexts('noul.no', no, 1, mostForms),
  }
  const twice = forms.yes.find((form) => forms.no.includes(form))
  if (twice !== undefined) throw refusal('noul', `${JSON.stringify(twice)} is both yes and no`)
  return forms
}

const mostForms = 32
