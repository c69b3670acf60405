/**
 * Renders the model's own chat template once, and cuts the result into the texts around a request.
 *
 * The rendered user message holds two sentinels, one for the state and one for the question. The
 * template's text around them is trusted; the caller's text replaces the sentinels later and never
 * passes through the template.
 *
 * Rules
 *   1. Thinking is switched off by every variable name that templates use for it.
 *   2. A template that asks for the date gets a fixed date: the same request must have the same
 *      prompt tomorrow.
 *   3. Templates differ in whether content is a string or a list of parts, and in whether the tool
 *      list may be undefined. The first form that renders both sentinels is used.
 *
 * @module
 */

import { Template } from '@huggingface/jinja'
import { OiError } from '../errors.js'

export interface ChatRendering {
  /** Before the state. */
  readonly head: string
  /** Between state and question. */
  readonly between: string
  /** Behind the question, up to the beginning of the reply. */
  readonly tail: string
  /**
   * Behind the question in a conversation that already has a plain reply, up to that reply.
   * Undefined if the template cannot render one.
   */
  readonly replyTail: string | undefined
}

export interface ChatTokens {
  readonly bosToken: string
  readonly eosToken: string
}

/** The text between state and question in the user message. */
export const separator = '\n\n'

// Letters and digits only: no template trims, escapes or splits them.
const stateSentinel = 'oiStateSentinel9c41e7'
const questionSentinel = 'oiQuestionSentinel9c41e7'
const replySentinel = 'oiReplySentinel9c41e7'

/**
 * Renders a chat template around a state and a question.
 *
 * @param source - Jinja.
 * @throws {@link OiError} `ERR_READOUT` if the template cannot be parsed or rendered, or does not
 *   show state and question once each and in this order.
 */
export function renderChat(source: string, tokens: ChatTokens): ChatRendering {
  let template: Template
  try {
    // A name that the library sets can only be overridden inside the template. The line break is
    // part of the tag: blocks are trimmed.
    template = new Template(`{% set strftime_now = fixed_now %}\n${source}`)
  } catch (cause) {
    throw unusable(`cannot be parsed: ${(cause as Error).message}`, cause)
  }

  let failure: OiError | undefined
  for (const form of forms) {
    try {
      const variables = { ...switchesOff(source), ...commonVariables(tokens), ...form.tools }
      const user = {
        role: 'user',
        content: form.content(stateSentinel + separator + questionSentinel),
      }
      const text = template.render({ ...variables, messages: [user], add_generation_prompt: true })
      const [head, rest] = cut(text, stateSentinel, 'the state')
      const [between, tail] = cut(rest, questionSentinel, 'the question')
      return { head, between, tail, replyTail: renderReply(template, variables, user, form) }
    } catch (cause) {
      failure ??= unusable((cause as Error).message, cause)
    }
  }
  throw failure!
}

type Variables = Record<string, unknown>

interface Form {
  content(text: string): unknown
  readonly tools: Variables
}

const asString: Form['content'] = (text) => text
const asParts: Form['content'] = (text) => [{ type: 'text', text }]
const forms: readonly Form[] = [
  { content: asString, tools: {} },
  { content: asParts, tools: {} },
  { content: asString, tools: { tools: [] } },
  { content: asParts, tools: { tools: [] } },
]

function renderReply(
  template: Template,
  variables: Variables,
  user: unknown,
  form: Form,
): string | undefined {
  const reply = { role: 'assistant', content: form.content(replySentinel) }
  let text: string
  try {
    text = template.render({ ...variables, messages: [user, reply], add_generation_prompt: false })
  } catch {
    // Some templates require the user's message to be last; they cannot show a reply.
    return undefined
  }
  const behind = text.split(questionSentinel)[1]
  return behind?.includes(replySentinel) ? behind.split(replySentinel)[0] : undefined
}

/** The texts before and behind a sentinel, which must occur once. */
function cut(text: string, sentinel: string, what: string): [string, string] {
  const pieces = text.split(sentinel)
  const [before, behind] = pieces
  if (before === undefined || behind === undefined || pieces.length > 2) {
    throw new Error(`shows ${what} ${pieces.length - 1} times instead of once, or out of order`)
  }
  return [before, behind]
}

function commonVariables({ bosToken, eosToken }: ChatTokens): Variables {
  return {
    bos_token: bosToken,
    eos_token: eosToken,
    fixed_now: fixedNow,
    date_string: fixedNow('%d %b %Y'),
    datetime: fixedNow('%Y-%m-%d'),
  }
}

/** `strftime_now` of a fixed day. */
function fixedNow(format: unknown): string {
  const fields: Record<string, string> = {
    Y: '2025',
    m: '01',
    d: '01',
    B: 'January',
    b: 'Jan',
    A: 'Wednesday',
    a: 'Wed',
    H: '00',
    M: '00',
    S: '00',
  }
  return String(format).replace(/%-?([A-Za-z])/g, (all, field: string) => fields[field] ?? all)
}

/** The values that mean "as little thinking as possible", weakest first. */
const efforts = ['none', 'no_think', 'minimal', 'low']

function switchesOff(source: string): Variables {
  // Templates refuse or print unknown values, so a value that the template names is used.
  const effort = efforts.find(
    (name) => source.includes(`'${name}'`) || source.includes(`"${name}"`),
  )
  return {
    enable_thinking: false,
    thinking: false,
    thinking_mode: 'disabled',
    thinking_budget: 0,
    reasoning_effort: effort ?? 'low',
  }
}

export function unusable(reason: string, cause?: unknown): OiError {
  return new OiError('ERR_READOUT', `chat template: ${reason}`, { cause })
}
