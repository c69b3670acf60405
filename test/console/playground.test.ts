/** Requests written by hand in the playground. */
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { root } from '../../scripts/build/paths.js'
import { compile } from '../helpers/compile.js'
import { fixturePath, projectorPath } from '../helpers/fixture.js'
import { type ConsoleTest, consoleTest } from '../helpers/console.js'
import { blocks, readGuide } from '../helpers/guides.js'
import { png } from '../helpers/pictures.js'

const run = promisify(execFile)

consoleTest('the playground', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.open('playground', 'Playground')
  const answers = page.getByRole('region', { name: 'Answers' })

  await t.test('it opens with the request of the README, and its answers', async (t) => {
    for (const name of ['billing', 'team', 'urgency']) {
      await answers.getByRole('article', { name: `Answer to ${name}` }).waitFor()
    }
    const example = blocks(readGuide('README.md'), 'sh').find((text) => text.includes('"state"'))!
    const [, body] = /-d '(.*?)'\n/s.exec(example)!
    const sent = page.waitForRequest('**/admin/v1/decide')
    await page.keyboard.press('Control+Enter')
    t.strictSame((await sent).postDataJSON(), JSON.parse(body!))
    await answers.getByRole('article', { name: 'Answer to urgency' }).waitFor()
  })

  await t.test('thresholds say what to do, and stand in the code, which runs', async (t) => {
    const card = answers.getByRole('article', { name: 'Answer to billing' })
    const step = card.locator('.threshold .tag')
    const said = await card.locator('.hint').innerText()
    const yes = Number(/([\d.]+)%/.exec(said)![1]) / 100
    await card.getByLabel('Act from').fill(String(Math.max(0, yes - 0.05).toFixed(2)))
    t.equal(await step.innerText(), 'Act')
    await card.getByLabel('Act from').fill('1')
    t.equal(await step.innerText(), yes < 0.2 ? 'Refuse' : 'Ask a person')
    await card.getByLabel('Refuse below').fill('1')
    t.equal(await step.innerText(), 'Refuse')
    await card.getByLabel('Refuse below').fill('0.03')
    await card.getByLabel('Act from').fill('0.04')

    const shown = await runCode(t, console)
    t.match(shown.code, '"billing": act from 0.04 on, refuse below 0.03')
    t.equal(typeof (JSON.parse(shown.curl) as { answers: object }).answers, 'object')
    const next = yes >= 0.04 ? 'act' : yes < 0.03 ? 'refuse' : 'ask a person'
    t.match(shown.python, `billing ${next}`)
    t.match(shown.node, `billing ${next}`)
  })

  await t.test('a link brings the request to another tab, and nothing is asked', async (t) => {
    await console.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByLabel('State, a text').fill('Zwei Abbuchungen – 日本, "quoted" & <more>')
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('The link is copied.').waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    const other = await console.context.newPage()
    const asked: string[] = []
    other.on('request', (request) => {
      if (request.url().endsWith('/decide')) asked.push(request.url())
    })
    await other.goto(link)
    await other.getByText('This request came with the link.').waitFor()
    const state = other.getByLabel('State, a text')
    t.equal(await state.inputValue(), 'Zwei Abbuchungen – 日本, "quoted" & <more>')
    t.equal(await other.getByRole('group', { name: 'Question urgency' }).count(), 1)
    t.notMatch(other.url(), /request=/)
    t.strictSame(asked, [])
    await other.goto(`${link.slice(0, -9)}AAAA`)
    await other.getByText('The link is damaged').waitFor()
    await other.close()
  })

  await t.test('a request goes to Compare, and replaces other questions when told', async (t) => {
    const add = page.getByRole('button', { name: 'Add to Compare' })
    await add.click()
    await page.getByText('The case is added to Compare.').waitFor()
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await add.click()
    await page.getByRole('dialog').getByText('Compare has 1 case with other questions').waitFor()
    await page.getByRole('button', { name: 'Replace them' }).click()
    await add.click()
    await console.open('compare', 'Compare')
    t.equal(await page.getByRole('textbox', { name: /^State of case/ }).count(), 2)
    t.match(await page.getByLabel('State of case 2').inputValue(), /camera/)
    // Two columns of two equal cases: each is asked once.
    await page.getByRole('button', { name: 'Run 2 requests' }).waitFor()
    await console.open('playground', 'Playground')
  })

  await t.test('an example of each type runs unchanged', async (t) => {
    for (const [example, name, verdict] of [
      ['Yes or no', 'refund', /^(?:Yes|No)/],
      ['Choice', 'team', /^(?:billing|technical|sales)/],
      ['Score', 'urgency', /^[0-3]/],
    ] as const) {
      await page.locator('.examples').getByRole('button', { name: example }).click()
      await page.keyboard.press('Control+Enter')
      const card = answers.getByRole('article', { name: `Answer to ${name}` })
      await card.waitFor()
      t.match(await card.locator('.verdict').innerText(), verdict)
    }
    await answers.getByText('Raw JSON').click()
    await answers.getByText('"latency_ms"').waitFor()
    await answers.getByText('tokens').first().waitFor()
  })

  await t.test(
    'values that an example replaced can be restored, and nothing is lost',
    async (t) => {
      const state = page.getByLabel('State, a text')
      await state.fill('My own words.')
      const row = page.locator('.examples')
      await row.getByRole('button', { name: 'Choice' }).click()
      t.match(await state.inputValue(), /camera/)
      await row.getByRole('button', { name: 'Score' }).click()
      await state.fill('Changed since.')
      await row.getByRole('button', { name: 'Undo' }).click()
      t.equal(await state.inputValue(), 'My own words.')
      await row.getByRole('button', { name: 'Undo' }).click()
      t.equal(await state.inputValue(), 'Changed since.')
    },
  )

  await t.test('a state that is not JSON is marked at its place while it is typed', async (t) => {
    const region = page.getByRole('region', { name: 'State' })
    await region.getByText('JSON', { exact: true }).click()
    await page.getByLabel('State, JSON').fill('{\n  "order": 17,\n  "paid" false\n}')
    await region.getByText('Line 3, column 10: ').waitFor()
    t.equal(await region.locator('mark').innerText(), 'f')
    t.ok(await page.getByRole('button', { name: 'Run' }).isDisabled())
    await page.getByLabel('State, JSON').fill('{"order": 17, "paid": false}')
    await region.locator('mark').waitFor({ state: 'detached' })
    t.ok(await page.getByRole('button', { name: 'Run' }).isEnabled())
  })

  await t.test("the server's refusal appears at its question", async (t) => {
    console.expect(/status of 4\d\d/)
    const questions = page.getByRole('region', { name: 'Questions' })
    await questions.getByRole('button', { name: 'Choice' }).click()
    await questions.getByRole('group', { name: 'Question question' }).waitFor()
    await page.keyboard.press('Control+Enter')
    const said = questions.getByRole('group', { name: 'Question question' }).getByRole('alert')
    await said.waitFor()
    t.match(await said.innerText(), /questions\.question\.criteria/)
    // The same as JSON: the place is marked in the text.
    await questions.getByText('JSON', { exact: true }).click()
    await questions.locator('mark').waitFor()
    await questions.getByText('Form', { exact: true }).click()
    await questions.getByRole('button', { name: 'Remove question question' }).click()
  })

  await t.test('the code that it shows gives the same answer', async (t) => {
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await page.getByLabel('State, a text').fill(`It's "broken" \\ $HOME \`id\` – 日本`)
    await page.keyboard.press('Control+Enter')
    const verdict = await answers.locator('.verdict').innerText()
    const shown = await runCode(t, console)
    t.equal((JSON.parse(shown.curl) as Reply).answers.team.choice, verdict)
    t.match(shown.python, `'choice': '${verdict}'`)
    t.match(shown.node, `choice: '${verdict}'`)
  })

  await t.test('Escape cancels a request, and so does Stop', async (t) => {
    // On a network that loses everything.
    await page.route('**/admin/v1/decide', () => {})
    for (const stop of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Stop' }).click(),
    ]) {
      await page.keyboard.press('Control+Enter')
      await answers.getByText('Waiting for the model').waitFor()
      await stop()
      await answers.getByText('Stopped').waitFor()
    }
    t.ok(await page.getByRole('button', { name: 'Run' }).isEnabled())
  })
})

/** Runs the code that the page shows, in each language. @returns The command, and what each says. */
async function runCode(t: Test, console: ConsoleTest) {
  const { page } = console
  const { secret } = await console.admin<{ secret: string }>('POST', '/keys', {
    ...{ workspace_id: 1, name: 'code' },
  })
  const env = { ...process.env, OI_KEY: secret }
  await page.getByRole('button', { name: 'View code' }).click()
  const dialog = page.getByRole('dialog', { name: 'Code' })
  const shown = () => dialog.locator('pre').innerText()
  const code = await shown()
  const curl = await run('sh', ['-c', code], { env })
  await dialog.getByText('Python').click()
  const python = await run('python3', ['-c', await shown()], { env })
  await dialog.getByText('TypeScript').click()
  const folder = t.testdir({ 'package.json': '{"type":"module"}', 'code.ts': await shown() })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'oi-systemone'))
  t.strictSame(compile(join(folder, 'code.ts')), [])
  const node = await run(process.execPath, [join(folder, 'code.js')], { env, cwd: folder })
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return { code, curl: curl.stdout, python: python.stdout, node: node.stdout }
}

interface Reply {
  readonly answers: { readonly team: { readonly choice: string } }
}

const withEyes = async () => ({
  args: ['--model', await fixturePath('dense'), '--mmproj', await projectorPath()],
})

consoleTest('a pasted or dropped image is seen', withEyes, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.open('playground', 'Playground')
  await page.locator('.examples').getByRole('button', { name: 'Yes or no' }).click()
  const bytes = [...(await png(64, 48))]
  const bring = (kind: 'paste' | 'drop') => page.evaluate(bringing(bytes, kind))
  await bring('paste')
  await page.getByAltText('Image 1').waitFor()
  await bring('drop')
  await page.getByAltText('Image 2').waitFor()
  await page.getByRole('button', { name: 'Remove image 2' }).click()
  await page.keyboard.press('Control+Enter')
  const answers = page.getByRole('region', { name: 'Answers' })
  await answers.getByRole('article', { name: 'Answer to refund' }).waitFor()
  await answers.locator('.fold summary').click()
  await answers.getByText('Of images').waitFor()
  t.pass()
})

/** In the page: puts an image into the state's field. */
function bringing(bytes: readonly number[], kind: 'paste' | 'drop'): string {
  return `{
    const data = new DataTransfer()
    const bytes = new Uint8Array(${JSON.stringify(bytes)})
    data.items.add(new File([bytes], 'a.png', { type: 'image/png' }))
    const how = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
    const event = new ${kind === 'paste' ? 'ClipboardEvent' : 'DragEvent'}('${kind}', how)
    document.querySelector('textarea.plain').dispatchEvent(event)
  }`
}
