/**
 * Chat templates, rendered and cut: small test templates, and every template of the vendored
 * llama.cpp, if it has been fetched.
 */
import t from 'tap'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { renderChat } from '../../src/prompt/chat-template.js'
import { answerTail } from '../../src/prompt/thinking.js'
import { OiError } from '../../src/errors.js'

const tokens = { bosToken: '<s>', eosToken: '</s>' }
const refused = { code: 'ERR_READOUT' }
const render = (source: string) => renderChat(source, tokens)

const common =
  '{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}' +
  '{% if add_generation_prompt %}<assistant>{% endif %}'

t.test('the rendering is cut at state and question', async (t) => {
  t.strictSame(render(common), {
    head: '<s><user>',
    between: '\n\n',
    tail: '</user><assistant>',
    replyTail: '</user><assistant>',
  })
})

t.test('the beginning of a template is kept', async (t) => {
  t.equal(render(`\n\n ${common}`).head, '\n\n <s><user>')
})

t.test('a template may need content as a list of parts', async (t) => {
  const source =
    "{% for m in messages %}[{{ m.role }}]{% for p in m.content %}{% if p.type == 'text' %}" +
    '{{ p.text | trim }}{% endif %}{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}'
  t.match(render(source), { head: '[user]', between: '\n\n', tail: '[assistant]' })
})

t.test('a template that needs a list of tools gets an empty one', async (t) => {
  const source = `{% for tool in tools %}{{ tool }}{% endfor %}${common}`
  t.match(render(source), { head: '<s><user>' })
})

t.test('a template may refuse other roles', async (t) => {
  const source =
    "{% for m in messages %}{% if m.role != 'user' %}{{ raise_exception('only user') }}{% endif %}" +
    'U:{{ m.content }}{% endfor %} A:'
  t.strictSame(render(source), {
    head: 'U:',
    between: '\n\n',
    tail: ' A:',
    replyTail: undefined,
  })
})

t.test('the date never changes', async (t) => {
  t.match(render(`{{ strftime_now('%d %B %Y, %A') }}${common}`), {
    head: '01 January 2025, Wednesday<s><user>',
  })
  t.match(render(`{{ date_string }}${common}`), { head: '01 Jan 2025<s><user>' })
})

t.test('every switch is off', async (t) => {
  for (const [source, expected] of [
    ['{{ enable_thinking }} {{ thinking }}', 'false false'],
    ['{{ thinking_mode }} {{ thinking_budget }}', 'disabled 0'],
    ['{{ reasoning_effort }}', 'low'],
    ["{% if reasoning_effort == 'none' %}off{% endif %}", 'off'],
    ['{% if reasoning_effort == "no_think" %}off{% endif %}', 'off'],
  ] as const) {
    t.equal(render(source + common).head, `${expected}<s><user>`, source)
  }
})

t.test('a template that loses, doubles or reorders its content is refused', async (t) => {
  for (const source of [
    'nothing',
    '{{ messages[0].content }}{{ messages[0].content }}',
    '{{ messages[0].content | upper }}',
    "{{ messages[0].content.split('\\n')[0] }}",
    "{% set c = messages[0].content.split('\\n\\n') %}{{ c[1] }}{{ c[0] }}",
  ]) {
    t.throws(() => render(source), refused, source)
  }
})

t.test('a template that cannot be parsed or rendered is refused with the reason', async (t) => {
  t.throws(() => render('{% if %}'), refused)
  t.throws(() => render("{{ raise_exception('not today') }}"), { ...refused, message: /not today/ })
})

const folder = new URL('../../../vendor/llama.cpp/models/templates/', import.meta.url)
const skip = existsSync(folder) ? false : 'the vendored llama.cpp has not been fetched'

t.test('every vendored template has a tail or a reason', { skip }, async (t) => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jinja'))) {
    const source = readFileSync(new URL(name, folder), 'utf8')
    try {
      const rendering = render(source)
      t.equal(rendering.between, '\n\n', name)
      t.ok(answerTail(rendering, source).length > 0, name)
    } catch (error) {
      t.ok(error instanceof OiError && error.code === 'ERR_READOUT', `${name}: ${String(error)}`)
    }
  }
})

const endings: [file: string, tail: RegExp][] = [
  ['Qwen-Qwen3-0.6B', /<think>\n\n<\/think>\n\n$/],
  ['Qwen-Qwen2.5-7B-Instruct', /<\|im_start\|>assistant\n$/],
  ['openai-gpt-oss-120b', /<\|start\|>assistant<\|channel\|>final<\|message\|>$/],
  ['google-gemma-4-31B-it', /<\|channel>thought\n<channel\|>$/],
  ['Kimi-K2-Thinking', /<think><\/think>$/],
  ['NVIDIA-Nemotron-Nano-v2', /<think>\n\n<\/think>\n\n$/],
  ['Cohere2MoE', /<\|START_THINKING\|><\|END_THINKING\|><\|START_TEXT\|>$/],
  ['meta-llama-Llama-3.2-3B-Instruct', /assistant<\|end_header_id\|>\n\n$/],
]
t.test('known families end where the answer begins', { skip }, async (t) => {
  for (const [name, tail] of endings) {
    const source = readFileSync(new URL(`${name}.jinja`, folder), 'utf8')
    t.match(answerTail(render(source), source), tail, name)
  }
})
