/**
 * Chooses and makes a model's readout.
 *
 * Everything that depends on the model alone is computed once, when the readout is made. Rendering
 * a request is then pure string work.
 *
 * A request becomes one shared prefix (the layout's head, and the state with the line breaks behind
 * it, so that the two are tokenized together, cut-as-whole.ts) and one suffix for each question (its
 * wording, and the layout's tail). The caller's text is never in a trusted part. A state is cut at
 * its images.
 *
 * @module
 */

import { mostOptions } from '../api/limits.js'
import type { Engine, ModelInfo } from '../engine/types.js'
import { OiError } from '../errors.js'
import { renderChat } from './chat-template.js'
import { cutAsWhole } from './cut-as-whole.js'
import { embeddedReadout } from './custom/embedded.js'
import { named } from './custom/faults.js'
import { frameLayout } from './custom/frame.js'
import { ownLabels, ownNoulTokens } from './custom/own-labels.js'
import type { ChosenReadout, CustomReadout } from './custom/types.js'
import { createHiddenReadout, readsStates } from './hidden/hidden-readout.js'
import { findLabels, findNoulTokens, type Label } from './labels.js'
import { lettersOne, type LettersVersion } from './letters.js'
import { LettersReadout } from './letters-readout.js'
import { decisionType } from './native/families.js'
import { createNativeReadout } from './native/native-readout.js'
import { plainLayout } from './plain-layout.js'
import type { Layout } from './plain-layout.js'
import { answerTail } from './thinking.js'
import type { Readout } from './types.js'

interface ReadoutOptions {
  /**
   * The most labels. Default 255, as more are never needed. Fewer simulate a model with a poorer
   * vocabulary.
   */
  readonly maxLabels?: number
  /** Replaces the model's readout. */
  readonly custom?: ChosenReadout | undefined
}

/**
 * Chooses a readout: the given one or the model's embedded one; for a decision model its own
 * format; for any other model letters.
 *
 * @throws {@link OiError} `ERR_READOUT` if its template cannot be used, always thinks, or leaves no
 *   place for labels; if it is a decision model of a type that cannot be served; for a user's own
 *   readout, naming its file.
 */
export async function createReadout(
  engine: Engine,
  { maxLabels = mostOptions, custom }: ReadoutOptions = {},
): Promise<Readout> {
  if (readsStates(engine.info)) {
    if (custom === undefined) return createHiddenReadout(engine)
    throw new OiError(
      'ERR_READOUT',
      `the model is asked as ${engine.info.metadata['oi.readout']} alone: no other readout fits it`,
    )
  }
  const own = custom ?? embeddedReadout(engine.info)
  if (own !== undefined) {
    return 'file' in own
      ? createCustomReadout(engine, own)
      : createLettersReadout(engine, maxLabels, own)
  }
  if (decisionType(engine.info) !== undefined) return createNativeReadout(engine)
  return createLettersReadout(engine, maxLabels, lettersOne)
}

async function createLettersReadout(
  engine: Engine,
  maxLabels: number,
  version: LettersVersion,
): Promise<Readout> {
  const layout = await cutAsWhole(engine, layoutOf(engine.info))
  const labels = await findLabels(engine, layout, maxLabels)
  requireLabels(labels)
  const noul = await findNoulTokens(engine, layout)
  return new LettersReadout({ layout, labels, noul, version })
}

async function createCustomReadout(engine: Engine, custom: CustomReadout): Promise<Readout> {
  const { template, labelPrefix } = custom
  try {
    const found =
      template?.kind === 'frame'
        ? withBos(frameLayout(template.source, engine.info), engine.info)
        : layoutOf(template ? { ...engine.info, chatTemplate: template.source } : engine.info)
    const whole = await cutAsWhole(engine, found)
    const layout = { ...whole, labelPrefix: labelPrefix ?? found.labelPrefix }
    const labels = custom.labels
      ? await ownLabels(engine, layout, custom.labels)
      : await findLabels(engine, layout, mostOptions)
    requireLabels(labels)
    const noul = custom.noul
      ? await ownNoulTokens(engine, layout, custom.noul)
      : await findNoulTokens(engine, layout)
    return new LettersReadout({ layout, labels, noul, custom })
  } catch (error) {
    throw named(custom.file, error)
  }
}

function requireLabels(labels: readonly Label[]): void {
  if (labels.length > 0) return
  throw new OiError('ERR_READOUT', 'labels: expected 2 single tokens or more behind the question')
}

function layoutOf(info: ModelInfo): Layout {
  return withBos(info.chatTemplate ? chatLayout(info.chatTemplate, info) : plainLayout, info)
}

function withBos(layout: Layout, info: ModelInfo): Layout {
  const addsBos = info.metadata['tokenizer.ggml.add_bos_token'] === 'true'
  if (!addsBos || layout.head.startsWith(info.bosToken)) return layout
  return { ...layout, head: info.bosToken + layout.head }
}

function chatLayout(source: string, info: ModelInfo): Layout {
  const rendering = renderChat(source, info)
  const { head, between, replyTail } = rendering
  const tail = answerTail(rendering, source)
  return { head, between, tail, labelPrefix: replyTail === `${tail} ` ? ' ' : '' }
}
