/**
 * The commands of the guides are run as printed, with a real server and real models. Needs the
 * built addon; a small model is made on first use.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import type { Decision } from '../../src/decide/types.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { oi, outcomeOf } from '../helpers/command.js'
import { fixturePath, openEngine } from '../helpers/fixture.js'
import { blocks, commands, commandsIn, guides, readGuide } from '../helpers/guides.js'
import { ServerProcess } from '../helpers/server-process.js'

/** Commands not run here: they need a network, another machine, or a terminal. */
const elsewhere = [
  // Of this repository: their scripts have their own tests.
  /^(?:sudo )?(?:npm|npx) /,
  /^(?:OI_ADDON|LLAMA_CPP_DIR)=\S+ npm /,
  // `npm run deploy:check` runs these.
  /^(?:sudo|docker|kubectl|apt-get|oi\(\)|--|\/opt|echo|\}|curl http:\/\/127\.0\.0\.1:8080\/readyz)/,
  /^alias oi=/,
  // On a machine with a GPU.
  /^(?:export OI_ADDON=|node dist\/test\/device\/)/,
  // http/python-programs.test.ts.
  /^(?:pip install |python3 -m venv |export TYPESAFE_|JEVBENCH_API_KEY=|datamodel-codegen )/,
  // http/changed-files.test.ts.
  /^(?:cp|mv) \S+ \/models\//,
  // With other hubs and files: http/pull.test.ts.
  /^oi models pull (?:hf:|https:)/,
  /^oi (?:serve --model m-Q4_K_M|admin password)$/,
]
const here = /^(?:oi |curl |export OI_KEY=|url=|csrf=)/

/** Folders and commands that depend on one another run in this order. */
const ran = [
  ...['README.md', 'src/accounts', 'src/config', 'src/http/README.md', 'src/admin'],
  ...[
    'src/models',
    'src/evaluate',
    'src/cli',
    'src/prompt',
    'src/calibrate',
    'scripts/deploy/README.md',
  ],
]

const isRunHere = (command: string) =>
  here.test(command) && !elsewhere.some((pattern) => pattern.test(command))

t.test('every command of a guide is run, here or elsewhere', async (t) => {
  const unknown = guides
    // How the model was made: hours of work, in separate steps.
    .filter((guide) => !guide.startsWith('scripts/train/'))
    .flatMap((guide) => commands(readGuide(guide)).map((text) => ({ guide, text })))
    .filter(({ guide, text }) =>
      here.test(text)
        ? isRunHere(text) && !ran.some((name) => guide.startsWith(name))
        : !elsewhere.some((pattern) => pattern.test(text)),
    )
  t.strictSame(unknown, [])
})

t.test('the commands of the guides', async (t) => {
  const folder = t.testdir({ path: { to: {} }, 'password.txt': 'correct horse battery\n' })
  await layOut(folder)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  await oi(['workspaces', 'create', 'first', '--data-dir', dataDir])
  const created = await oi(['keys', 'create', '--workspace', 'first', '--data-dir', dataDir])
  const [key] = /oi-\S+/.exec(created.stdout)!
  const server = await ServerProcess.start(t, { model: 'real', dataDir })
  const origin = server.url('').replace(/\/$/, '')

  const outputs = new Map<string, string>()
  for (const name of ran) {
    for (const guide of guides.filter((guide) => guide.startsWith(name))) {
      for (const text of runnable(readGuide(guide))) {
        const command = text
          .replace(/http:\/\/(?:localhost|127\.0\.0\.1):8080/g, origin)
          .replace('oi-…', key)
        const { code, stdout, stderr } = await bash(folder, command)
        t.equal(code, 0, text, { stdout, stderr })
        outputs.set(text, stdout)
      }
    }
  }

  t.test('the first request has the answer in the README', async (t) => {
    const [, answer] = [...outputs].find(([text]) => text.includes('/v1/systemone'))!
    const [seen, shown] = [taken(answer), taken(blocks(readGuide('README.md'), 'json')[0]!)]
    t.equal(seen.shape, shown.shape)
    // Processors round differently.
    t.ok(seen.numbers.every((number, i) => Math.abs(number - shown.numbers[i]!) < 0.03))
    const engine = await openEngine({ modelPath: defaultModelPath })
    t.teardown(() => engine.close())
    for (const { answers, tokens } of [seen, shown]) {
      t.equal(tokens, await engine.countTokens(JSON.stringify(answers)))
    }
  })

  t.test('oi ask prints the output in its guide', async (t) => {
    const [block] = blocks(readGuide('src/cli/README.md'), 'console')
    const [, command, shown] = /^\$ (oi (?:.*\\\n)*.*)\n([^]*)$/.exec(block!)!
    const { stdout } = await bash(folder, command!)
    t.equal(withoutFigures(stdout), withoutFigures(shown!))
  })
})

/** The files that the commands name: models, rows, a readout, a request. */
async function layOut(folder: string): Promise<void> {
  const model = await fixturePath('small')
  const models = ['model.gguf', 'small.gguf', 'large.gguf', 'path/to/model.gguf', 'path/to/m.gguf']
  for (const name of models) {
    cpSync(model, join(folder, name))
  }
  const prompts = readGuide('src/prompt/README.md')
  writeFileSync(join(folder, 'frame.jinja'), blocks(prompts, 'jinja')[0]!)
  writeFileSync(join(folder, 'support.json'), blocks(prompts, 'json')[0]!)
  writeFileSync(join(folder, 'request.json'), blocks(readGuide('src/http/README.md'), 'json')[0]!)
  const row = JSON.parse(blocks(readGuide('src/evaluate/README.md'), 'json')[0]!) as object
  const rows = Array.from({ length: 50 }, (_, i) =>
    JSON.stringify({ ...row, state: `Ticket ${i * i}.`, expected: { money: i % 2 === 0 } }),
  )
  writeFileSync(join(folder, 'rows.jsonl'), rows.join('\n'))
  const team = { type: 'choice', criteria: { accounts: 'payments', other: '' } }
  writeFileSync(join(folder, 'questions.json'), JSON.stringify({ team }))
  writeFileSync(
    join(folder, 'tickets.csv'),
    'text,team\nI was charged twice.,accounts\nHello!,Other\n',
  )
}

/** Blocks whose every command is run here; of other blocks, these commands. */
function runnable(text: string): string[] {
  return blocks(text, 'sh').flatMap((block) => {
    const all = commandsIn(block)
    const some = all.filter(isRunHere)
    return some.length === all.length ? [block] : some
  })
}

function bash(folder: string, command: string) {
  const main = join(root, 'dist/src/cli/main.js')
  const script = `oi() { '${process.execPath}' '${main}' "$@"; }\n${command}`
  return outcomeOf(spawn('bash', ['-euc', script], { cwd: folder }))
}

/**
 * A reply's answers and their tokens, its text without numbers, and the numbers without times and
 * those tokens, which depend on the others' digits.
 */
function taken(text: string) {
  const { answers, usage } = JSON.parse(text) as Decision
  const numbers: number[] = []
  const shape = JSON.stringify(JSON.parse(text), (name, value: unknown) => {
    if (typeof value !== 'number') return value
    if (name !== 'latency_ms' && name !== 'output_tokens') numbers.push(value)
    return '#'
  })
  return { answers, tokens: usage.output_tokens, shape, numbers }
}

function withoutFigures(text: string): string {
  return text
    .replace(/[█▏▎▍▌▋▊▉]+ */g, '')
    .replace(/\d+(?:\.\d+)?/g, '#')
    .replace(/ +/g, ' ')
    .trim()
}
