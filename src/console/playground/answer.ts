/**
 * A reply for display. Its names keep their order.
 *
 * @module
 */

import { entriesOf, isJsonObject, type Json, type JsonObject } from '../../api/json-value.js'
import { readJson } from './json-text.js'

export interface Bar {
  readonly name: string
  /** The meaning of a level. */
  readonly meaning?: string
  /** 0 to 1. */
  readonly p: number
}

export interface Answer {
  readonly name: string
  readonly type: 'noul' | 'choice' | 'score'
  /** `Yes`, an option, `2.3 of 4`. */
  readonly verdict: string
  /** The decision by which two answers are compared: an option, yes or no, a level. */
  readonly decision: string
  /** The text beside the verdict, as `of 0 to 3`. */
  readonly beside: string | undefined
  /** For a noul the probability of its verdict; 0 to 1. */
  readonly confidence: number
  readonly bars: readonly Bar[]
  readonly evidence: Evidence | undefined
}

export interface Evidence {
  readonly labelMass: number | undefined
  readonly temperature: number
  readonly logits: readonly number[]
  readonly orderSpread: number | undefined
}

export interface Reply {
  readonly text: string
  readonly model: string
  readonly answers: readonly Answer[]
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly imageTokens: number | undefined
  /** The model's time, milliseconds. */
  readonly latencyMs: number
}

/** @param text - The body of a decision. @param cachedTokens - From its header. */
export function readReply(text: string, cachedTokens: number): Reply {
  const body = readJson(text) as JsonObject
  const usage = body['usage'] as JsonObject
  const images = usage['image_tokens']
  return {
    text,
    model: body['model'] as string,
    answers: entriesOf(body['answers'] as JsonObject).map(([name, answer]) =>
      readAnswer(name, answer as JsonObject),
    ),
    inputTokens: Number(usage['input_tokens']),
    outputTokens: Number(usage['output_tokens']),
    cachedTokens,
    imageTokens: images === undefined ? undefined : Number(images),
    latencyMs: Number(body['latency_ms']),
  }
}

function readAnswer(name: string, answer: JsonObject): Answer {
  const evidence = readEvidence(answer['evidence'])
  const type = answer['type'] as Answer['type']
  if (type === 'noul') return { name, type, evidence, ...noulOf(Number(answer['noul'])) }
  const probabilities = entriesOf(answer['probabilities'] as JsonObject)
  const confidence = Number(answer['confidence'])
  if (type === 'choice') {
    const bars = probabilities.map(([name, p]) => ({ name, p: Number(p) }))
    return { name, type, evidence, ...choiceOf(answer['choice'] as string, bars, confidence) }
  }
  const legend = answer['legend'] as JsonObject
  const bars = probabilities.map(([level, p]) => ({
    name: level,
    meaning: meaningOf(legend[level]),
    p: Number(p),
  }))
  return { name, type, evidence, ...scoreOf(Number(answer['score']), bars, confidence) }
}

type Shown = Pick<Answer, 'verdict' | 'decision' | 'beside' | 'confidence' | 'bars'>

export function noulOf(yes: number): Shown {
  const verdict = yes >= 0.5 ? 'Yes' : 'No'
  return {
    verdict,
    decision: verdict,
    beside: undefined,
    confidence: Math.max(yes, 1 - yes),
    bars: [
      { name: 'Yes', p: yes },
      { name: 'No', p: 1 - yes },
    ],
  }
}

export function choiceOf(choice: string, bars: readonly Bar[], confidence: number): Shown {
  return { verdict: choice, decision: choice, beside: undefined, confidence, bars }
}

export function scoreOf(score: number, bars: readonly Bar[], confidence: number): Shown {
  const level = Math.round(score)
  return {
    verdict: score.toFixed(2).replace(/\.?0+$/, ''),
    decision: String(level),
    beside: `on a scale of 0 to ${bars.length - 1}`,
    confidence,
    bars,
  }
}

function readEvidence(value: Json | undefined): Evidence | undefined {
  if (!isJsonObject(value)) return undefined
  const number = (name: string) => (value[name] === undefined ? undefined : Number(value[name]))
  return {
    labelMass: number('label_mass'),
    temperature: Number(value['temperature']),
    logits: (value['logits'] as Json[]).map(Number),
    orderSpread: number('order_spread'),
  }
}

function meaningOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
