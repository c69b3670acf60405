/**
 * Reads a request body: from text to a {@link DecideRequest}, or to the first error.
 *
 * Rules
 *   1. Every message starts with the place and then names the rule; `param` is the place.
 *   2. Wrong shape is `ERR_BODY_INVALID` (422); right shape but an unknown type or too many of
 *      something is `ERR_REQUEST_UNACCEPTABLE` (400).
 *   3. The result is the parsed value itself: unknown fields stay in it, are never read, and their
 *      places are reported.
 *
 * @module
 */

import type { DecideRequest, NoulQuestion, Question } from '../decide/types.js'
import { optionCount, requireCount, requireFewOptions, type RequestLimits } from './counts.js'
import { addIgnored, noteIgnored } from './ignored.js'
import { entriesOf, isJsonObject, isShared, keysOf, parseInSteps, RawNumber } from './json.js'
import type { Json } from './json.js'
import { knownMembers } from './known-members.js'
import type { ScopedQuestions } from './known-questions.js'
import { mostOptionsOfRequest } from './limits.js'
import { failure, itemOf, placeOf, shortened } from './place.js'
import { fitsSurely, replyBytes, type ReplySize, requireReplyFits } from './reply-size.js'
import { validators } from './schemas.js'
import { atOnce, type Steps } from './turns.js'
import { requireUnique } from './unique.js'

/**
 * Reads and checks one request body.
 *
 * @throws `OiError` `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE` (rule 2).
 */
export function readRequest(text: string, limits: RequestLimits): DecideRequest {
  return atOnce(readRequestInSteps(text, limits))
}

/**
 * As {@link readRequest}, in steps.
 *
 * @param size - Limits of the reply; without it, none.
 * @param known - Questions that were asked before and need not be read again.
 * @param ignored - Collects the places of unknown members.
 */
export function* readRequestInSteps(
  text: string,
  limits: RequestLimits,
  size?: ReplySize,
  known?: ScopedQuestions,
  ignored: string[] = [],
): Steps<DecideRequest> {
  const request = yield* checkInSteps(yield* parseInSteps(text, known), limits, ignored)
  if (size !== undefined && !fitsSurely(text.length, size)) {
    requireReplyFits(yield* replyBytes(request.questions, size), size, 'questions')
  }
  return request
}

/**
 * Checks a body that is parsed already, such as an object made by a program.
 *
 * @returns The same value.
 * @throws As {@link readRequest}.
 */
export function checkRequest(body: unknown, limits: RequestLimits): DecideRequest {
  return atOnce(checkInSteps(body, limits))
}

/** As {@link checkRequest}, in steps. @param ignored - As of {@link readRequestInSteps}. */
export function* checkInSteps(
  body: unknown,
  limits: RequestLimits,
  ignored: string[] = [],
  known = knownMembers.request,
): Steps<DecideRequest> {
  requireShape('request', body, '')
  requireUnique(body as object, '')
  requireNoMedia(body as object, unreadMedia, '')
  const request = body as DecideRequest
  noteIgnored(request, known, '', ignored)
  noteIgnoredOfAssets(request.assets, ignored)
  const before = checked.get(request.questions)
  if (before?.limits === limits) {
    addIgnored(ignored, before.ignored)
    return request
  }

  const names = keysOf(request.questions)
  requireUnique(request.questions, 'questions')
  requireCount(names.length, limits.maxQuestions, 'questions', 'questions')
  let options = 0
  const ofQuestions: string[] = []
  try {
    for (const [name, question] of entriesOf<unknown>(request.questions)) {
      checkQuestion(question, placeOf('questions', name), limits, ofQuestions)
      options += optionCount(question as Question)
      yield
    }
  } finally {
    // A misspelt member may be the reason for the refusal.
    addIgnored(ignored, ofQuestions)
  }
  if (options > mostOptionsOfRequest) {
    const rule = `expected at most ${mostOptionsOfRequest} options of all questions together (max_options_per_request), got ${options}`
    throw failure('ERR_REQUEST_UNACCEPTABLE', 'questions', rule)
  }
  if (isShared(request.questions)) {
    checked.set(request.questions, { limits, ignored: ofQuestions })
  }
  return request
}

interface Checked {
  readonly limits: RequestLimits
  readonly ignored: readonly string[]
}

/** The limits within which shared questions were found valid. */
const checked = new WeakMap<object, Checked>()

function noteIgnoredOfAssets(assets: Json | undefined, ignored: string[]): void {
  if (!isJsonObject(assets)) return
  requireUnique(assets, 'assets')
  for (const [ref, asset] of entriesOf(assets)) {
    if (!isJsonObject(asset)) continue
    const place = placeOf('assets', ref)
    requireUnique(asset, place)
    noteIgnored(asset, knownMembers.asset, place, ignored)
  }
}

/** Fields that carry media in other interfaces; no model here reads them. */
const unreadMedia = ['media', 'videos', 'video', 'audio', 'files']
/** For places that cannot hold images either. */
const anyMedia = [...unreadMedia, ...knownMembers.images]

/**
 * Media are read or refused, never ignored: the answer would seem to be about them.
 *
 * @throws `OiError` `ERR_REQUEST_UNACCEPTABLE`.
 */
function requireNoMedia(body: object, names: readonly string[], place: string): void {
  for (const name of names) {
    const value = (body as Record<string, unknown>)[name]
    if (value === undefined || value === null) continue
    if (typeof value === 'object' && Object.keys(value).length === 0) continue
    const rule = `expected nothing, got ${describe(value)}: images stand in the state, and other media are not read`
    throw failure('ERR_REQUEST_UNACCEPTABLE', placeOf(place, name), rule)
  }
}

/** @throws As {@link requireNoMedia}. */
export function requireNoMediaIn(body: object, place: string): void {
  requireNoMedia(body, anyMedia, place)
}

function checkQuestion(
  value: unknown,
  place: string,
  limits: RequestLimits,
  ignored: string[],
): void {
  requireShape('question', value, place)
  requireUnique(value as object, place)
  noteIgnored(value as object, knownMembers.question, place, ignored)
  requireNoMediaIn(value as object, place)
  const { type } = value as { type: string }
  if (type !== 'noul' && type !== 'choice' && type !== 'score') {
    const got = JSON.stringify(shortened(type))
    throw failure(
      'ERR_REQUEST_UNACCEPTABLE',
      placeOf(place, 'type'),
      type === 'box'
        ? `expected ${expected.question.type}, got "box": no model here can tell a place in an image`
        : `expected ${expected.question.type}, got ${got}`,
    )
  }

  const criteria = placeOf(place, 'criteria')
  requireFewOptions(value as { type: string; criteria?: Json }, limits, criteria)
  if (type === 'score') requireLevels((value as { criteria?: Json }).criteria, criteria)
  requireShape(type, value, place)

  const question = value as Question
  if (question.criteria) requireUnique(question.criteria, criteria)
  if (question.type === 'noul' && question.criteria) {
    requireSides(question.criteria, criteria)
    noteIgnored(question.criteria, knownMembers.sides, criteria, ignored)
  }
  if (question.type === 'noul') requireAsked(question, place)
}

/** Clients take texts, objects and arrays alone for the meaning of a level. */
function requireLevels(levels: Json | undefined, place: string): void {
  const empty = Array.isArray(levels) ? levels.indexOf(null) : -1
  if (empty < 0) return
  throw failure('ERR_BODY_INVALID', itemOf(place, empty), 'expected what the level means, got null')
}

/** Any other name is misspelt. */
function requireSides(criteria: object, place: string): void {
  const names = keysOf(criteria)
  if (names.includes('true') || names.includes('false')) return
  const got = names.slice(0, 2).map((name) => JSON.stringify(shortened(name)))
  throw failure('ERR_BODY_INVALID', place, `expected true, false or both, got ${got.join(' and ')}`)
}

function requireAsked(question: NoulQuestion, place: string): void {
  const { instructions, criteria } = question
  for (const said of [instructions, criteria?.true, criteria?.false]) {
    if (said !== undefined && said !== null && said !== '') return
  }
  throw failure(
    'ERR_BODY_INVALID',
    place,
    'expected instructions or criteria, without them nothing is asked',
  )
}

const anyState = 'a string, an object, an array, a number or a boolean'

/**
 * The expected value of each field, in words; '' is the value that a schema describes as a whole.
 */
const expected = {
  state: { '': anyState },
  request: {
    '': 'an object',
    state: anyState,
    questions: 'an object with at least one question',
    model: 'a string',
  },
  question: { '': 'an object', type: '"noul", "choice" or "score"' },
  noul: { criteria: 'an object with the keys true and false' },
  choice: { criteria: 'an object of options' },
  score: { criteria: 'an array of levels' },
} as const

/**
 * Checks a value against the schema of its kind.
 *
 * @throws `OiError` `ERR_BODY_INVALID` naming the place and the value found.
 */
export function requireShape(kind: keyof typeof expected, value: unknown, place: string): void {
  const validator = validators[kind]
  if (validator.Check(value)) return

  // Of a name that stands twice, the last value may be the wrong one.
  if (isJsonObject(value)) requireUnique(value, place)
  const field = isJsonObject(value) ? failedField(validator.Errors(value)[0]) : ''
  const at = field === '' ? place : placeOf(place, field)
  const found = field === '' ? value : (value as Record<string, unknown>)[field]
  const wanted = (expected[kind] as Record<string, string>)[field]
  throw failure('ERR_BODY_INVALID', at, `expected ${wanted}, got ${describe(found)}`)
}

/** The top-level field of a schema error. */
function failedField(error: SchemaError | undefined): string {
  if (error?.keyword === 'required' && error.instancePath === '') {
    return error.params.requiredProperties[0] ?? ''
  }
  return error?.instancePath.split('/')[1] ?? ''
}

type SchemaError = ReturnType<(typeof validators)[keyof typeof validators]['Errors']>[number]

/** Describes a value without its content. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value === 'number' || value instanceof RawNumber) return 'a number'
  if (typeof value === 'object')
    return Object.keys(value).length === 0 ? 'an empty object' : 'an object'
  return `a ${typeof value}`
}
