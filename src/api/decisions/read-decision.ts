/**
 * Reads the body of `POST /v1/decisions` as a request of `POST /v1/systemone`.
 *
 * Rules
 *   1. A `predicate` is a noul, a `choice` a choice, a `score` a score. Questions are named by
 *      their number, since their own names may be missing or repeated.
 *   2. All limits are those of `POST /v1/systemone`, and the same code checks them; messages name
 *      places of the body that was sent.
 *
 * @module
 */

import type { DecideRequest } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { requireCount, type RequestLimits } from '../counts.js'
import { noteIgnored } from '../ignored.js'
import { type Json, type JsonObject, objectFromEntries, parseInSteps } from '../json.js'
import { failure, itemOf, moved as movedTo, placeOf } from '../place.js'
import { checkInSteps, requireNoMediaIn } from '../read-request.js'
import { fitsSurely, replyBytes, type ReplySize, requireReplyFits } from '../reply-size.js'
import type { Steps } from '../turns.js'
import { joined, malformed, type Moved, other, readInput } from './read-input.js'
import { readParts, requireObject, textOf } from './read-input.js'

/** The parts of a question that its answer needs. */
export interface Asked {
  /** Null: no name. */
  readonly name: string | null
  /** Of a choice, by the names given to its options. */
  readonly values?: ReadonlyMap<string, string | boolean>
  /** Of a score. */
  readonly labels?: readonly string[]
}

export interface AskedDecision {
  readonly request: DecideRequest
  /** By the names of the request's questions, in their order. */
  readonly asked: ReadonlyMap<string, Asked>
  /** An error about the request, with the place in the body that was sent (rule 2). */
  placed(error: OiError): OiError
}

/**
 * Reads and checks a body, in steps.
 *
 * @param ignored - Collects the places of unknown members.
 * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE`.
 */
export function* readDecisionInSteps(
  text: string,
  limits: RequestLimits,
  size: ReplySize,
  ignored: string[] = [],
): Steps<AskedDecision> {
  const body = yield* parseInSteps(text)
  requireObject(body, '')
  requireNoMediaIn(body, '')
  noteIgnored(body, ['model', 'input', 'questions'], '', ignored)
  const moved: Moved[] = []
  const placed = (error: OiError) => movedTo(error, (place) => placeBefore(place, moved))
  const state = readInput(body['input'], moved)
  const list = body['questions']
  if (!Array.isArray(list)) throw malformed('questions', 'a list of questions', list)
  requireCount(list.length, limits.maxQuestions, 'questions', 'questions')
  const asked = new Map<string, Asked>()
  const questions: [string, JsonObject][] = []
  for (const [i, question] of list.entries()) {
    const [translated, own] = readQuestion(question, itemOf('questions', i), ignored)
    const name = `q${i}`
    const [to, from] = [placeOf('questions', name), itemOf('questions', i)]
    const options = own.labels === undefined ? 'choices' : 'levels'
    moved.push([to, from], [placeOf(to, 'criteria'), placeOf(from, options)])
    asked.set(name, own)
    questions.push([name, translated])
    yield
  }
  const { model } = body
  const translated = {
    ...{ state, questions: objectFromEntries(questions) },
    ...(model !== undefined && { model }),
  }
  try {
    const request = yield* checkInSteps(translated, limits)
    if (!fitsSurely(text.length, size)) {
      requireReplyFits(yield* replyBytes(request.questions, size), size, 'questions')
    }
    return { request, asked, placed }
  } catch (error) {
    throw error instanceof OiError ? placed(error) : error
  }
}

const common = ['type', 'name', 'instructions']

function readQuestion(value: Json, place: string, ignored: string[]): [JsonObject, Asked] {
  requireObject(value, place)
  requireNoMediaIn(value, place)
  const { type, name = null } = value
  if (name !== null && typeof name !== 'string') {
    throw malformed(placeOf(place, 'name'), 'a string', name)
  }
  const known = { predicate: common, choice: [...common, 'choices'], score: [...common, 'levels'] }
  if (typeof type === 'string' && Object.hasOwn(known, type)) {
    noteIgnored(value, known[type as keyof typeof known], place, ignored)
  }
  const instructions = readInstructions(value['instructions'], placeOf(place, 'instructions'))
  if (type === 'predicate') return [{ type: 'noul', instructions }, { name }]
  if (type === 'choice') {
    const [criteria, values] = readChoices(value['choices'], placeOf(place, 'choices'), ignored)
    return [
      { type, instructions, criteria },
      { name, values },
    ]
  }
  if (type === 'score') {
    const [criteria, labels] = readLevels(value['levels'], placeOf(place, 'levels'), ignored)
    return [
      { type, instructions, criteria },
      { name, labels },
    ]
  }
  throw other(placeOf(place, 'type'), '"predicate", "choice" or "score"', type)
}

function readInstructions(value: Json | undefined, place: string): Json {
  if (typeof value === 'string') return value
  const noImages = 'input_text or input_json, as images stand in the input'
  return joined(readParts(value, place, noImages).map((part) => part.value))
}

function readChoices(
  list: Json | undefined,
  place: string,
  ignored: string[],
): [JsonObject, ReadonlyMap<string, string | boolean>] {
  if (!Array.isArray(list)) throw malformed(place, 'a list of choices', list)
  const values = new Map<string, string | boolean>()
  const criteria = list.map((choice, i): [string, Json] => {
    const at = itemOf(place, i)
    requireObject(choice, at)
    noteIgnored(choice, ['value', 'description'], at, ignored)
    const { value } = choice
    if (typeof value !== 'string' && typeof value !== 'boolean') {
      throw malformed(placeOf(at, 'value'), 'a string or a boolean', value)
    }
    const name = nameOf(value, values)
    if (name === undefined) {
      throw failure(
        'ERR_BODY_INVALID',
        placeOf(at, 'value'),
        'expected each value once, got it twice',
      )
    }
    values.set(name, value)
    return [name, descriptionOf(choice, at) ?? null]
  })
  return [objectFromEntries(criteria), values]
}

/** A name that no other value has; undefined for a repeated value. */
function nameOf(
  value: string | boolean,
  values: ReadonlyMap<string, string | boolean>,
): string | undefined {
  let name = String(value)
  while (values.has(name)) {
    if (values.get(name) === value) return undefined
    // A text and a boolean may read alike.
    name = `${name} (${typeof value})`
  }
  return name
}

function readLevels(
  list: Json | undefined,
  place: string,
  ignored: string[],
): [string[], readonly string[]] {
  if (!Array.isArray(list)) throw malformed(place, 'a list of levels', list)
  const labels: string[] = []
  const criteria = list.map((level, i) => {
    const at = itemOf(place, i)
    requireObject(level, at)
    noteIgnored(level, ['label', 'description'], at, ignored)
    const label = textOf(level['label'], placeOf(at, 'label'))
    labels.push(label)
    const description = descriptionOf(level, at)
    return description === undefined || description === '' ? label : `${label}: ${description}`
  })
  return [criteria, labels]
}

function descriptionOf(of: JsonObject, place: string): string | undefined {
  const { description } = of
  if (description === undefined || description === null) return undefined
  return textOf(description, placeOf(place, 'description'))
}

/** A place in the body that was sent. */
function placeBefore(place: string | undefined, moved: readonly Moved[]): string {
  if (place === undefined) return 'body'
  let [best, from] = ['', '']
  for (const [to, before] of moved) {
    const isInside = place.startsWith(to) && /^(?:$|[.[])/.test(place.slice(to.length))
    if (isInside && to.length >= best.length) [best, from] = [to, before]
  }
  if (best === '') return place.replace(/^state\b/, 'input')
  return from + place.slice(best.length)
}
