/** Requests written by hand in the playground. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fixturePath, projectorPath } from '../helpers/fixture.js'
import { consoleTest } from '../helpers/console.js'
import { png } from '../helpers/pictures.js'

const run = promisify(execFile)

consoleTest('the playground', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.open('playground', 'Playground')
  const answers = page.getByRole('region', { name: 'Answers' })

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
    const { keys } = await console.admin<{ keys: { workspace_id: number }[] }>('GET', '/keys')
    const body = { workspace_id: keys[0]!.workspace_id, name: 'code' }
    const { secret } = await console.admin<{ secret: string }>('POST', '/keys', body)
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await page.getByLabel('State, a text').fill(`It's "broken" \\ $HOME \`id\` – 日本`)
    await page.keyboard.press('Control+Enter')
    const verdict = await answers.locator('.verdict').innerText()
    await page.getByRole('button', { name: 'View code' }).click()
    const dialog = page.getByRole('dialog', { name: 'Code' })
    const code = () => dialog.locator('pre').innerText()
    const env = { ...process.env, OI_KEY: secret }
    const curl = await run('sh', ['-c', await code()], { env })
    t.equal((JSON.parse(curl.stdout) as Reply).answers.team.choice, verdict)
    await dialog.getByText('Python').click()
    const python = await run('python3', ['-c', await code()], { env })
    t.match(python.stdout, `'choice': '${verdict}'`)
    await dialog.getByText('TypeScript').click()
    const file = join(t.testdir(), 'code.mjs')
    const client = new URL('../../src/client/index.js', import.meta.url).href
    const script = (await code())
      .replace("'oi-systemone/client'", JSON.stringify(client))
      .replace('OI_KEY!', 'OI_KEY')
    writeFileSync(file, script)
    const node = await run(process.execPath, [file], { env })
    t.match(node.stdout, `choice: '${verdict}'`)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
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
