/**
 * The beginning of the answer of models that think before they answer.
 *
 * A template may ignore the switch that turns thinking off, so its output is checked. The label is
 * read right behind the tail, where the model must be about to answer.
 *
 * @module
 */

import { type ChatRendering, unusable } from './chat-template.js'

interface ThinkBlock {
  readonly open: string
  readonly close: string
  /** The closing mark also ends other blocks: without the opening mark it means nothing. */
  readonly common?: true
}

/** The marks of known families. */
const thinkBlocks: readonly ThinkBlock[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<reasoning>', close: '</reasoning>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<mm:think>', close: '</mm:think>' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|inner_prefix|>', close: '<|inner_suffix|>' },
  { open: '<|channel>thought', close: '<channel|>' },
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' },
  { open: '<|channel|>analysis<|message|>', close: '<|end|>', common: true },
  { open: '<|think|>', close: '<|end|>', common: true },
]

/** Variables by which templates let a caller switch thinking off. */
const switchName =
  /\b(?:enable_thinking|thinking_mode|thinking_budget|thinking_effort|reasoning_effort)\b/

/** A variable of exactly this name, and not the word in a sentence or a message. */
const bareSwitch = /\b(?:if|not|and|or|set)\s+thinking\s*(?:-?[%}]|and\b|or\b|is\b|=|\))/

const thinkingWords = /think|thought|reason|reflect|analysis|scratchpad/i

/**
 * The tail behind which the model answers at once.
 *
 * - A block that is open in spite of the switch is closed.
 * - If the template's own replies have more before their text than the tail, such as an empty block
 *   or the name of a channel, that is appended.
 *
 * @param source - The template's text.
 * @throws {@link OiError} `ERR_READOUT` if the template always opens a block, or ends with text
 *   that looks like thinking of an unknown family.
 */
export function answerTail({ tail, replyTail }: ChatRendering, source: string): string {
  const found = findBlock(tail)
  if (found?.state === 'open') {
    if (switchName.test(source) || bareSwitch.test(source)) {
      return tail + closing(tail.slice(found.at), found.block)
    }
    throw unusable(`always opens ${found.block.open} before the answer and has no switch for it`)
  }

  const missing = missingFrom(tail, replyTail)
  if (missing !== '') return tail + missing
  if (found !== undefined) {
    // Replies without a block may still have a mark of their own at its place.
    const mark = missingFrom(tail.slice(0, found.at), replyTail)
    return findBlock(mark) === undefined ? tail + mark : tail
  }
  if (thinkingWords.test(tail)) {
    const end = JSON.stringify(tail.slice(-80))
    throw unusable(`ends with ${end}, which looks like thinking of an unknown kind`)
  }
  return tail
}

/** The mark of a block that a text leaves open. */
export function openThinking(text: string): string | undefined {
  const found = findBlock(text)
  return found?.state === 'open' ? found.block.open : undefined
}

interface FoundBlock {
  readonly block: ThinkBlock
  readonly state: 'open' | 'closed'
  /** The beginning of the block: its opening mark, or a closing mark that stands alone. */
  readonly at: number
}

function findBlock(text: string): FoundBlock | undefined {
  for (const block of thinkBlocks) {
    const open = text.lastIndexOf(block.open)
    const close = text.lastIndexOf(block.close)
    if (open !== -1) return { block, state: close > open ? 'closed' : 'open', at: open }
    if (close !== -1 && !block.common) return { block, state: 'closed', at: close }
  }
  return undefined
}

/** Closes on the same line if nothing followed the opening mark, else behind an empty paragraph. */
function closing(opened: string, block: ThinkBlock): string {
  return opened.includes('\n') ? `\n${block.close}\n\n` : block.close
}

/**
 * The text of the template's own reply between `start` and the reply's text. A single space does
 * not count: it is part of the reply's first token.
 */
function missingFrom(start: string, replyTail: string | undefined): string {
  const missing = replyTail?.startsWith(start) ? replyTail.slice(start.length) : ''
  return /[^ ]/.test(missing) ? missing : ''
}
