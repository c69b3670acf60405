/** Errors of templates have their line. */
import t from 'tap'
import { compileJinja } from '../../src/prompt/jinja.js'

for (const [title, source, message] of [
  ['a block that is never closed', 'a\n{% if x %}\nb\n', /^line 2: .*\{% if %\} is never closed/],
  ['the inner of two open blocks', '{% for a in b %}\n\n{% if a %}\nx', /^line 3: .*\{% if %\}/],
  ['an end that belongs to another block', '{% if a %}\n{{ b }}\n{% endfor %}', /^line 3: /],
  ['an unknown statement', 'a\n\n{% fi %}\nb', /^line 3: .*Unknown statement type: fi/],
  ['an expression that is none', '{{ a }}\n{{ 1 + }}\n{{ b }}', /^line 2: .*CloseExpression/],
  ['an expression without an end', 'a\nb {{ c', /^line 2: /],
  ['a text without an end', "a\n{{ 'b }}\nc\nd", /^line 2: .*Unexpected end/],
  ['a comment without an end', 'a\nb\n{# c\nd', /^line 3: .*end of comment/],
] as const) {
  t.test(`${title} is refused with its line`, async (t) => {
    t.throws(() => compileJinja(source), { code: 'ERR_READOUT', message })
  })
}

t.test('Jinja is rendered', async (t) => {
  t.equal(compileJinja('{% for x in [1, 2] %}{{ x }};{% endfor %}').render({}), '1;2;')
})
