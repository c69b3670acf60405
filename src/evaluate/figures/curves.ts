/**
 * Figures of answers by a threshold of their probability.
 *
 * @module
 */

import type { Step } from './ranking.js'
import { wilson } from './wilson.js'

/** What becomes of the answers if those from a threshold on count as yes. */
export interface CurvePoint {
  readonly threshold: number
  /** Share of the yeses that are found: the height of the ROC curve. */
  readonly recall: number
  /** Share of the noes that are taken for yes: its place to the right. */
  readonly falseYes: number
  /** Share of the found ones that are yes. */
  readonly precision: number
}

export interface Threshold extends Omit<CurvePoint, 'falseYes'> {
  /** Why it is shown. */
  readonly rule: 'half' | 'accuracy' | 'f1'
  readonly f1: number
  readonly accuracy: number
}

/** If only the surest answers are taken. */
export interface CoveragePoint {
  /** The share of the answers that are taken. */
  readonly coverage: number
  /** The confidence from which they are. */
  readonly confidence: number
  /** The share of wrong ones among them. */
  readonly error: number
}

/** As many answers as in each other bin, as far as equal confidences allow. */
export interface MassBin {
  readonly answers: number
  /** Its mean. */
  readonly confidence: number
  readonly accuracy: number
  /** 95 % interval of the accuracy, after Wilson. */
  readonly interval: readonly [low: number, high: number]
}

/** For people. */
export const ruleNames: Readonly<Record<Threshold['rule'], string>> = {
  half: 'one half',
  accuracy: 'best accuracy',
  f1: 'best F1',
}

const shownPoints = 50
const coveragePoints = 20
const massBins = 10

/** Counts of the answers down to a step. */
interface Cut {
  readonly step: Step
  /** The probability of the next step, 0 behind the last. */
  readonly below: number
  readonly yes: number
  readonly no: number
}

function cutsOf(steps: readonly Step[]): Cut[] {
  let [yes, no] = [0, 0]
  return steps.map((step, i) => {
    yes += step.yes
    no += step.no
    return { step, below: steps[i + 1]?.probability ?? 0, yes, no }
  })
}

/**
 * Area under the ROC curve: the probability that a yes gets a higher value than a no; ties count half.
 *
 * @returns 0 to 1; NaN unless there are yeses and noes.
 */
export function areaOf(steps: readonly Step[]): number {
  let pairs = 0
  let above = 0
  for (const { yes, no } of steps) {
    pairs += no * (above + yes / 2)
    above += yes
  }
  const noes = steps.reduce((sum, { no }) => sum + no, 0)
  return pairs / (above * noes)
}

/** Mean of the precision over the yeses, each at its own threshold. NaN without a yes. */
export function averagePrecisionOf(steps: readonly Step[]): number {
  const cuts = cutsOf(steps)
  const all = cuts.at(-1)?.yes ?? 0
  return cuts.reduce((sum, { step, yes, no }) => sum + (step.yes * yes) / (yes + no), 0) / all
}

/** Of all thresholds so many that a drawing shows them, with the first and the last. */
export function curveOf(steps: readonly Step[]): CurvePoint[] {
  const cuts = cutsOf(steps)
  const last = cuts.at(-1)
  if (last === undefined) return []
  const places = Array.from({ length: shownPoints }, (_, i) => {
    return Math.round((i * (cuts.length - 1)) / (shownPoints - 1))
  })
  return [...new Set(places)].map((place) => {
    const cut = cuts[place]!
    const { yes, no } = cut
    return {
      threshold: thresholdAt(cut),
      recall: yes / last.yes,
      falseYes: no / last.no,
      precision: yes / (yes + no),
    }
  })
}

/** That of one half, and the best for the accuracy and for F1 on these answers. */
export function thresholdsOf(steps: readonly Step[]): Threshold[] {
  const cuts = cutsOf(steps)
  const last = cuts.at(-1)
  if (last === undefined || last.yes === 0 || last.no === 0) return []
  const figures = (rule: Threshold['rule'], threshold: number, yes: number, no: number) => ({
    ...{ rule, threshold, precision: yes / (yes + no), recall: yes / last.yes },
    f1: (2 * yes) / (yes + no + last.yes),
    accuracy: (yes + last.no - no) / (last.yes + last.no),
  })
  const best = (rule: 'accuracy' | 'f1') =>
    cuts
      .map((cut) => ({ cut, value: figures(rule, 0, cut.yes, cut.no)[rule] }))
      .reduce((most, next) => (next.value > most.value ? next : most)).cut
  const half = cuts.findLast(({ step }) => step.probability >= 0.5)
  return [
    figures('half', 0.5, half?.yes ?? 0, half?.no ?? 0),
    ...(['accuracy', 'f1'] as const).map((rule) => {
      const cut = best(rule)
      return figures(rule, thresholdAt(cut), cut.yes, cut.no)
    }),
  ]
}

/** @param steps - By the confidence; yes: the answer is right. */
export function coverageOf(steps: readonly Step[]): CoveragePoint[] {
  const cuts = cutsOf(steps)
  const last = cuts.at(-1)
  if (last === undefined) return []
  const all = last.yes + last.no
  const wanted = Array.from({ length: coveragePoints }, (_, i) => (all * (i + 1)) / coveragePoints)
  const shown = wanted.map((count) => cuts.find(({ yes, no }) => yes + no >= count)!)
  return [...new Set(shown)].map((cut) => ({
    coverage: (cut.yes + cut.no) / all,
    confidence: thresholdAt(cut),
    error: cut.no / (cut.yes + cut.no),
  }))
}

/**
 * Bins between the deciles of the confidence; a decile belongs to the bin below it.
 *
 * @param steps - As of {@link coverageOf}.
 */
export function massBinsOf(steps: readonly Step[]): MassBin[] {
  const rising = steps.toReversed()
  const all = rising.reduce((sum, { yes, no }) => sum + yes + no, 0)
  const edges = Array.from({ length: massBins - 1 }, (_, i) =>
    quantileOf(rising, ((i + 1) / massBins) * (all - 1)),
  )
  const bins = Array.from({ length: massBins }, () => ({ answers: 0, sum: 0, right: 0 }))
  for (const { probability, yes, no } of rising) {
    const bin = bins[edges.filter((edge) => edge < probability).length]!
    bin.answers += yes + no
    bin.sum += probability * (yes + no)
    bin.right += yes
  }
  return bins
    .filter(({ answers }) => answers > 0)
    .map(({ answers, sum, right }) => ({
      answers,
      confidence: sum / answers,
      accuracy: right / answers,
      interval: wilson(right, answers),
    }))
}

/** @param place - Among all answers, from 0; between two of them, a value between theirs. */
function quantileOf(rising: readonly Step[], place: number): number {
  const valueAt = (index: number) => {
    let seen = 0
    return rising.find(({ yes, no }) => (seen += yes + no) > index)?.probability ?? NaN
  }
  const below = valueAt(Math.floor(place))
  return below + (place - Math.floor(place)) * (valueAt(Math.ceil(place)) - below)
}

/** The shortest number that divides a step from the next one. */
function thresholdAt({ step, below }: Cut): number {
  for (let digits = 1; digits < 16; digits++) {
    const short = Math.floor(step.probability * 10 ** digits) / 10 ** digits
    if (short > below && short <= step.probability) return short
  }
  return step.probability
}
