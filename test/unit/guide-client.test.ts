/** The TypeScript of the guides is compiled strictly; the client's examples are also run. */
import t from 'tap'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../helpers/compile.js'
import { blocks, guides, readGuide } from '../helpers/guides.js'
import { play, withHttpServer } from '../helpers/http-server.js'
import { outcomeOf } from '../helpers/command.js'

const examplesOf = (path: string) => blocks(readGuide(path), 'ts')

const run = (cwd: string) => outcomeOf(spawn(process.execPath, ['examples.mjs'], { cwd }))

t.test('all TypeScript of the README and the guides compiles', async (t) => {
  const examples = guides.flatMap((guide) => {
    const blocks = examplesOf(guide)
    // The blocks of a guide are read one after another, and build on each other.
    return blocks.length === 0 ? [] : [[guide, blocks.join('\n')] as const]
  })
  t.ok(examples.some(([guide, text]) => guide === 'README.md' && text.includes('oi.decide')))
  for (const [guide, text] of examples) {
    const path = join(t.testdir({ 'example.mts': text }), 'example.mts')
    t.strictSame(compile(path), [], guide)
  }
})

t.test('no guide hides an example of this package from the compiler', async (t) => {
  const hidden = guides.filter((guide) =>
    ['js', 'javascript', 'typescript'].some((language) =>
      blocks(readGuide(guide), language).some((text) => text.includes('oi-systemone')),
    ),
  )
  t.strictSame(hidden, [])
})

t.test('the answers of open().decide() have the types of their questions', async (t) => {
  const right = `
    import { open, openAll, type Decision, type NoulQuestion } from 'oi-systemone'
    const question: NoulQuestion = { type: 'noul', instructions: 'Is it wet?' }
    for (const oi of [await open(), await openAll([{ model: 'a.gguf' }])]) {
      const { answers } = await oi.decide({
        state: { rain: 3 },
        questions: {
          wet: question,
          team: { type: 'choice', criteria: { accounts: '', technical: '', other: '' } },
          much: { type: 'score', criteria: ['none', 'some'] },
        },
      })
      const wet: number = answers.wet.noul
      const team: 'accounts' | 'technical' | 'other' = answers.team.choice
      const p: number = answers.team.probabilities.technical
      const much: number = answers.much.score
      console.log(wet, team, p, much)
    }
    export const shown = ({ usage, cached_tokens }: Decision) => usage.input_tokens - cached_tokens
  `
  const wrong = right
    .replace("'accounts' | 'technical'", "'accounts' | 'faults'")
    .replace('answers.much.score', 'answers.much.noul')
    .replace('answers.wet.noul', 'answers.dry.noul')
  const path = (name: string) => join(dir, name)
  const dir = t.testdir({ 'right.mts': right, 'wrong.mts': wrong })
  t.strictSame(compile(path('right.mts')), [])
  t.match(compile(path('wrong.mts')).join('\n'), /'dry'.*"faults".*'noul'/s)
})

t.test('the examples of the client compile and do what the guide says', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const directory = t.testdir({ 'receipt.png': 'a picture' })
    const path = join(directory, 'examples.mts')
    const examples = examplesOf('src/client/README.md')
    const source = examples.join('\n')
    t.equal(examples.length, 4)
    writeFileSync(path, source.replace('http://localhost:8080', url).replace('oi-…', 'oi-key'))
    t.strictSame(compile(path), [])
    const { code, stdout, stderr } = await run(directory)
    t.equal(stderr, '')
    t.equal(code, 0)
    t.match(stdout, /^0\.75 billing 0\.5\n0\.75\n0\.75\nHow do I change my name\? 0\.75\nOur shop /)
    const paths = received.map(({ path }) => path.replace('/v1/systemone', ''))
    t.strictSame(paths, ['', '/batch', '/batch', '', ''])
    t.match(JSON.parse(received[3]!.body), { state: { photo: { max_pixels: 500_000 } } })
  }),
)
