/**
 * A user's own readout: the content of its file, with the checks that need no model.
 *
 * @module
 */

import type { Orders } from '../../api/orders.js'
import type { LettersVersion, Wording } from '../letters.js'
import type { Temperature } from '../../scoring/types.js'

export interface CustomReadout {
  /** Its path, for messages. */
  readonly file: string
  /** Name and version; a default name has a hash of the file's content. */
  readonly name: string
  /**
   * Jinja around state and question (`state`, `question`), or a chat template that replaces the
   * model's own (`messages`). Default: the model's own.
   */
  readonly template: { readonly kind: 'frame' | 'chat'; readonly source: string } | undefined
  /** Undefined: the wording of `letters@1`. */
  readonly wording: Wording | undefined
  /** 2 to 255 distinct labels, best first; undefined: found as for `letters@1`. */
  readonly labels: readonly string[] | undefined
  /** The text before a label at the beginning of the answer; undefined: found. */
  readonly labelPrefix: '' | ' ' | undefined
  /** Texts that mean no and yes, spaces included; undefined: found. */
  readonly noul: NoulForms | undefined
  /** Undefined: 1. */
  readonly orders: Orders | undefined
  readonly temperatures: readonly Temperature[] | undefined
}

/** A readout that replaces the model's: a user's own, or a version by its name. */
export type ChosenReadout = CustomReadout | LettersVersion

/** At least one of each; no duplicates. */
export interface NoulForms {
  readonly no: readonly string[]
  readonly yes: readonly string[]
}
