/** The file of a user's own readout: refusals, and its name. No model. */
import t, { type Test } from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReadoutFile } from '../../src/models/readout-file.js'

const frame = '<u>{{ state }}</u><q>{{ question }}</q><a>'

function read(t: Test, content: unknown, file = 'r.json', more: Record<string, string> = {}) {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return readReadoutFile(join(t.testdir({ [file]: text, ...more }), file))
}

const wordingOf = (name: string, source: string) => ({ wording: { [name]: source } })

for (const [title, content, message] of [
  ['text that is not JSON', '{\n"name":}', /r\.json: not valid JSON: .* at line 2, column 8$/],
  ['a list', [], /r\.json: expected an object$/],
  ['an unknown key', { tempalte: frame }, /unknown key tempalte: did you mean template\?$/],
  ['a key that stands twice', '{"name":"a","name":"b"}', /name is given twice$/],
  ['a name with spaces', { name: 'my readout' }, /name: expected letters, digits/],
  ['the name of the readout that models have', { name: 'letters@1' }, /name: letters is the/],
  ['template and templateFile', { template: frame, templateFile: 'f' }, /got both$/],
  ['a template that is no text', { template: 1 }, /template: expected a text that is not empty$/],
  ['a template file that is not there', { templateFile: 'f' }, /templateFile f: there is no file/],
  [
    'a template that is not Jinja',
    { template: 'a\n{% if %}' },
    /template: line 2: not valid Jinja/,
  ],
  [
    'a template without the state',
    { template: '{{ question }}A' },
    /expected \{\{ state \}\} once/,
  ],
  ['the state twice', { template: `{{ state }}${frame}` }, /\{\{ state \}\} once, got it 2 times$/],
  ['a template without the question', { template: '{{ state }}A' }, /\{\{ question \}\} once/],
  [
    'the question before the state',
    { template: '{{ question }}{{ state }}A' },
    /the question stands before the state: .* share what stands before them$/,
  ],
  [
    'no place for the answer',
    { template: '{{ state }}{{ question }}\n' },
    /no place for the answer/,
  ],
  ['an open think block', { template: `${frame}<think>\n` }, /<think> is open at the end/],
  [
    'an unknown variable',
    { template: `{{ sate }}${frame}` },
    /variable sate: did you mean state\?/,
  ],
  [
    "a question's name",
    { template: '{{ state }}{{ question.name }}A' },
    /question cannot be read by \.name: .* its name is never shown$/,
  ],
  [
    'a filter on a text',
    { template: '{{ state | upper }}A' },
    /cannot be read by the filter upper/,
  ],
  [
    'a template that looks into a text',
    { template: `{% if 'x' in state %}y{% endif %}${frame}` },
    /state cannot be read by in:/,
  ],
  ['a loop over a text', { template: `{% for c in state %}{% endfor %}${frame}` }, /by a loop:/],
  ['a template that fails', { template: `{{ raise_exception('not now') }}${frame}` }, /not now$/],
  ['a template of two kinds', { template: `{{ messages }}${frame}` }, /either messages, or state/],
  ['an unknown wording', wordingOf('choise', 'x'), /wording: unknown key choise: .* choice\?$/],
  ['a wording that leaves out the options', wordingOf('choice', '{{ instructions }}'), /options/],
  [
    'a wording that shows a text only where there is another',
    wordingOf('noul', '{{ instructions }}{% if yes %}{{ yes }}{{ no }}{% endif %}'),
    /wording\.noul: expected \{\{ no \}\} once, got it 0 times, where there is no yes$/,
  ],
  [
    'an option of two lines',
    wordingOf('option', '{{ label }}\n{{ name }} {{ description }}'),
    /wording\.option: expected one line/,
  ],
  ['a level without its label', wordingOf('level', '{{ description }}'), /\{\{ label \}\} once/],
  ['one label', { labels: ['A'] }, /labels: expected a list of 2 to 255 texts, got 1$/],
  ['a label that stands twice', { labels: ['A', 'B', 'A'] }, /labels\[2\]: "A" stands twice$/],
  ['a label with a space', { labels: ['A', ' B'] }, /labels\[1\]: .* without white space$/],
  ['a prefix that is none', { labelPrefix: '\n' }, /labelPrefix: expected "" or " "$/],
  [
    'a noul without a no',
    { noul: { yes: ['Yes'] } },
    /noul\.no: expected a list of 1 to 32 texts$/,
  ],
  ['a form of both', { noul: { yes: ['Yes'], no: ['Yes'] } }, /noul: "Yes" is both yes and no$/],
  [
    'words that the question does not ask for',
    { noul: { yes: ['True'], no: ['False'] } },
    /noul\.yes: "True" is read, but the question asks for Yes or No/,
  ],
  ['a temperature of 0', { temperature: 0 }, /temperature: expected a number from 0\.01 to 100$/],
  ['a temperature of no type', { temperature: { nool: 1 } }, /unknown key nool: .* noul\?$/],
  ['orders that are none', { orders: 3 }, /orders: expected 1, 2 or all$/],
  ['orders as a text', { orders: '2' }, /orders: expected 1, 2 or all$/],
  ['an unknown bucket', { temperature: { score: { '3-6': 1 } } }, /temperature\.score: .* 3-5\?$/],
] as const) {
  t.test(`${title} is refused, with the file and the place`, async (t) => {
    t.throws(() => read(t, content), { code: 'ERR_READOUT', message })
    t.throws(() => read(t, content), { message: /^.*r\.json: / })
  })
}

t.test('a file that is missing, of another kind, or not UTF-8 is refused by name', async (t) => {
  t.throws(() => readReadoutFile('nowhere.jinja'), {
    code: 'ERR_READOUT',
    message: 'nowhere.jinja: there is no file nowhere.jinja',
  })
  t.throws(() => read(t, frame, 'r.txt'), { message: /ends in \.json or \.jinja$/ })
  const file = join(t.testdir(), 'r.jinja')
  writeFileSync(file, Buffer.from([0xff, 0xfe]))
  t.throws(() => readReadoutFile(file), { code: 'ERR_READOUT', message: /expected UTF-8$/ })
})

t.test('without a name, any changed letter in its files changes it', async (t) => {
  const content = { templateFile: 'f.jinja', temperature: 1 }
  const names = [
    read(t, content, 'my own.json', { 'f.jinja': frame }),
    read(t, content, 'my own.json', { 'f.jinja': `!${frame}` }),
    read(t, { ...content, temperature: 2 }, 'my own.json', { 'f.jinja': frame }),
    read(t, frame, 'my own.jinja'),
  ].map(({ name }) => name)
  for (const name of names) t.match(name, /^my-own@[0-9a-f]{8}$/)
  t.equal(new Set(names).size, names.length)
  t.equal(read(t, content, 'my own.json', { 'f.jinja': frame }).name, names[0])
})

t.test('Windows line breaks are line breaks', async (t) => {
  const { template } = read(t, frame.replace('<a>', '\r\n<a>'), 'r.jinja')
  t.equal(template!.source, frame.replace('<a>', '\n<a>'))
})

t.test('a single temperature is that of all types and buckets', async (t) => {
  const all = { from: 1, to: Infinity, temperature: 1.5 }
  t.strictSame(
    read(t, '{"temperature": 1.50}').temperatures,
    ['noul', 'choice', 'score'].map((type) => ({ type, ...all })),
  )
  const { temperatures } = read(t, { temperature: { noul: 1.5, choice: { '3-5': 2 } } })
  t.strictSame(temperatures, [
    { type: 'noul', ...all },
    { type: 'choice', from: 3, to: 5, temperature: 2 },
  ])
})

t.test("a noul's temperature may stand in an object without a bias", async (t) => {
  const { temperatures } = read(t, { temperature: { noul: { temperature: 1.5 } } })
  t.strictSame(temperatures, [{ type: 'noul', from: 1, to: Infinity, temperature: 1.5 }])
})
