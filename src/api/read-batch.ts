/**
 * Reads the body of a batch: its envelope, and each request in it.
 *
 * Rules
 *   1. The envelope is read as a whole or refused: either `requests` or `states`, 1 to 256 items;
 *      with `states`, also the questions that all of them share.
 *   2. An error in one item is that item's error.
 *   3. The items of one envelope share its questions: they are checked once, and are the same
 *      object in each item.
 *   4. Places begin with the item: `requests[3].questions.team.criteria`, `states[3]`. Shared
 *      members have their place in the envelope: `questions.team`, `model`.
 *
 * @module
 */

import type { DecideRequest } from '../decide/types.js'
import { OiError } from '../errors.js'
import { requireCount, type RequestLimits } from './counts.js'
import { addIgnored, noteIgnored } from './ignored.js'
import { isJsonObject, type Json, parseInSteps } from './json.js'
import { knownMembers } from './known-members.js'
import { failure, itemOf, moved } from './place.js'
import { mostItems } from './limits.js'
import { checkInSteps, describe, requireNoMediaIn, requireShape } from './read-request.js'
import { fitsSurely, replyBytes, type ReplySize, requireReplyFits } from './reply-size.js'
import { atOnce, type Steps } from './turns.js'
import { requireUnique } from './unique.js'

export interface BatchItem {
  /** The caller's own name for the item, returned with its result. Need not be unique. */
  readonly id?: string
  /** The request, or its error. */
  readonly request: DecideRequest | OiError
}

export interface Batch {
  /** 1 to 256, in the order of the body. */
  readonly items: readonly BatchItem[]
  /** An error about an item's request, with the place in the batch's body (rule 4). */
  placed(index: number, error: OiError): OiError
}

/**
 * Reads a batch and checks its envelope and every item.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` if the envelope has a wrong shape, or
 *   `ERR_REQUEST_UNACCEPTABLE` if it has too many items or is otherwise not acceptable.
 */
export function readBatch(text: string, limits: RequestLimits): Batch {
  return atOnce(readBatchInSteps(text, limits))
}

/**
 * As {@link readBatch}, in steps.
 *
 * @param size - Limits of the reply; without it, none.
 * @param ignored - Collects the places of unknown members, also of invalid items.
 */
export function* readBatchInSteps(
  text: string,
  limits: RequestLimits,
  size?: ReplySize,
  ignored: string[] = [],
): Steps<Batch> {
  const body = yield* parseInSteps(text)
  if (!isJsonObject(body)) {
    throw failure('ERR_BODY_INVALID', '', `expected an object, got ${describe(body)}`)
  }
  requireUnique(body, '')
  const { requests, states, model } = body
  if ((requests === undefined) === (states === undefined)) {
    const got = requests === undefined ? 'neither' : 'both'
    throw failure('ERR_BODY_INVALID', '', `expected either requests or states, got ${got}`)
  }
  requireNoMediaIn(body, '')
  noteIgnored(body, knownMembers[requests === undefined ? 'states' : 'requests'], '', ignored)
  if (model !== undefined && typeof model !== 'string') {
    throw failure('ERR_BODY_INVALID', 'model', `expected a string, got ${describe(model)}`)
  }
  const wanted = size === undefined || fitsSurely(text.length, size) ? undefined : size
  if (requests !== undefined) return yield* readRequests(requests, model, limits, wanted, ignored)
  const shared = {
    ...(body['questions'] !== undefined && { questions: body['questions'] }),
    ...(model !== undefined && { model }),
  }
  return yield* readStates(states!, shared, limits, size, ignored)
}

function* readRequests(
  value: Json,
  model: string | undefined,
  limits: RequestLimits,
  size: ReplySize | undefined,
  ignored: string[],
): Steps<Batch> {
  const bodies = itemsOf('requests', value)
  const placed = (index: number, error: OiError) => {
    const place = itemOf('requests', index)
    return moved(error, (param) => {
      if (param === undefined) return place
      const own = bodies[index]
      // The place is in the envelope if the item has no model of its own.
      if (param === 'model' && isJsonObject(own) && own['model'] === undefined) return param
      return `${place}.${param}`
    })
  }
  const items: BatchItem[] = []
  let bytes = 0
  for (const [index, item] of bodies.entries()) {
    const id = isJsonObject(item) ? item['id'] : undefined
    const named = typeof id === 'string' ? { id } : {}
    const own: string[] = []
    try {
      // Before it is copied: a copy has each name once.
      if (isJsonObject(item)) requireUnique(item, '')
      if (id !== undefined && typeof id !== 'string') {
        throw failure('ERR_BODY_INVALID', 'id', `expected a string, got ${describe(id)}`)
      }
      const request = yield* checkInSteps(withModel(item, model), limits, own, knownMembers.item)
      if (size !== undefined) bytes += yield* replyBytes(request.questions, size, id)
      items.push({ ...named, request })
    } catch (error) {
      if (!(error instanceof OiError)) throw error
      items.push({ ...named, request: placed(index, error) })
    }
    addIgnored(ignored, own, `${itemOf('requests', index)}.`)
    yield
  }
  if (size !== undefined) requireReplyFits(bytes, size, 'requests')
  return { items, placed }
}

/** @param shared - The members shared by all states. */
function* readStates(
  value: Json,
  shared: { readonly questions?: Json; readonly model?: string },
  limits: RequestLimits,
  size: ReplySize | undefined,
  ignored: string[],
): Steps<Batch> {
  const states = itemsOf('states', value)
  // The state used here is always valid, so any error is the envelope's.
  const { questions } = yield* checkInSteps({ ...shared, state: true }, limits, ignored)
  if (size !== undefined) {
    requireReplyFits(states.length * (yield* replyBytes(questions, size)), size, 'states')
  }
  const items = states.map((state, index): BatchItem => {
    try {
      requireShape('state', state, itemOf('states', index))
      return { request: { ...shared, questions, state } }
    } catch (error) {
      if (!(error instanceof OiError)) throw error
      return { request: error }
    }
  })
  const placed = (index: number, error: OiError) => {
    const place = itemOf('states', index)
    return moved(error, (param) => param?.replace(/^state\b/, place) ?? place)
  }
  return { items, placed }
}

function itemsOf(place: string, value: Json): Json[] {
  if (!Array.isArray(value)) {
    const rule = `expected an array of 1 to ${mostItems} items, got ${describe(value)}`
    throw failure('ERR_BODY_INVALID', place, rule)
  }
  requireCount(value.length, mostItems, place, 'items')
  return value
}

/** An item's own model wins over the envelope's. */
function withModel(item: Json, model: string | undefined): Json {
  if (model === undefined || !isJsonObject(item) || item['model'] !== undefined) return item
  return { ...item, model }
}
