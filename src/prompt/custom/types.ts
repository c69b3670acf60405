/**
 * A readout of a user's own: what its file says, checked as far as no model is needed.
 *
 * @module
 */

import type { Orders } from '../../api/orders.js'
import type { LettersVersion, Wording } from '../letters.js'
import type { Temperature } from '../temperatures.js'

export interface CustomReadout {
  /** Where it was read, for messages. */
  readonly file: string
  /** Name and version; one that was not given has a hash of the file's content. */
  readonly name: string
  /**
   * Jinja around state and question (`state`, `question`), or a chat template that takes the place
   * of the model's own (`messages`). Without one, the model's own is used.
   */
  readonly template: { readonly kind: 'frame' | 'chat'; readonly source: string } | undefined
  /** Undefined: that of `letters@1`. */
  readonly wording: Wording | undefined
  /** 2 to 255 distinct ones, best first; undefined: found as for `letters@1`. */
  readonly labels: readonly string[] | undefined
  /** What stands before a label where the answer is read; undefined: found. */
  readonly labelPrefix: '' | ' ' | undefined
  /** Texts that mean no and yes, spaces included; undefined: found. */
  readonly noul: NoulForms | undefined
  /** Undefined: 1. */
  readonly orders: Orders | undefined
  readonly temperatures: readonly Temperature[] | undefined
}

/** A readout that takes the place of the model's: a user's own, or a version by its name. */
export type ChosenReadout = CustomReadout | LettersVersion

/** At least one of each; none stands twice. */
export interface NoulForms {
  readonly no: readonly string[]
  readonly yes: readonly string[]
}
