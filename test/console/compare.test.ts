/** Compare: the same cases asked in several ways. */
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { fixturePath } from '../helpers/fixture.js'
import { consoleTest } from '../helpers/console.js'

const limits = { maxQuestions: 64, maxOptions: 255, maxLevels: 255 }

consoleTest('compare', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  await console.admin('POST', '/models', { file: await fixturePath('small'), name: 'other' })
  await console.open('compare', 'Compare')
  let decisions = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/decide')) decisions++
  })

  await t.test('an example replaces an empty form', async (t) => {
    const example = page.getByRole('button', { name: 'Insert an example' })
    await example.waitFor()
    await page
      .getByRole('region', { name: 'Questions' })
      .getByRole('button', { name: 'Score' })
      .click()
    await example.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove question question' }).click()
    await example.waitFor()
    t.pass()
  })

  await t.test('cases are asked in each column, and flips are marked', async (t) => {
    await page.getByRole('button', { name: 'Insert an example' }).click()
    await page.getByRole('group', { name: 'Column 2' }).getByLabel('Model').selectOption('other')
    t.equal(decisions, 0, 'nothing has been sent')
    await page.getByRole('button', { name: 'Run 8 requests' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    t.equal(decisions, 8)
    t.equal(await page.locator('.cell-verdict').count(), 8)
    const flips = await page.locator('.cell-verdict.flip').count()
    const verdicts = async (column: number) => {
      const cells = page.locator(`.compare tbody tr td:nth-child(${column})`)
      return (await cells.allInnerTexts()).map((text) => /billing|technical|sales/.exec(text)![0])
    }
    const [first, second] = [await verdicts(2), await verdicts(3)]
    const differ = first.filter((verdict, i) => verdict !== second[i]).length
    t.equal(flips, differ, 'what differs from the first column is marked, and nothing else')
    await page.getByText(`Only cases with a flip (${differ} of 4)`).waitFor()
  })

  await t.test('another temperature needs no request', async (t) => {
    const before = decisions
    await page.getByRole('group', { name: 'Column 2' }).getByLabel('Model').selectOption('Default')
    await page.getByRole('group', { name: 'Column 2' }).getByLabel('Orders').selectOption('One')
    await page.getByRole('group', { name: 'Column 2' }).getByLabel('Temperature').fill('100')
    const shares = await page
      .locator('.compare tbody tr td:nth-child(3) .cell-verdict .faint')
      .allInnerTexts()
    t.equal(shares.length, 4)
    for (const share of shares) t.ok(Number.parseFloat(share) < 20, `${share}: nearly equal`)
    t.equal(decisions, before)
  })

  await t.test('cases are saved as lines that can be opened again', async (t) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save file' }).click(),
    ])
    const path = await download.path()
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    t.equal(lines.length, 4)
    t.match(JSON.parse(lines[0]!), {
      state: /charged twice/,
      questions: { team: { type: 'choice' } },
      expected: { team: 'billing' },
    })
    await page.getByRole('button', { name: 'Remove all cases' }).click()
    await page.getByLabel('File of cases').setInputFiles({
      name: 'cases.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: readFileSync(path),
    })
    await page.getByLabel('State of case 4').waitFor()
    t.equal(await page.getByLabel('Right answer of case 1 to team').inputValue(), 'billing')
    await page.getByLabel('File of cases').setInputFiles({
      name: 'bad.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from('{"state":"a","questions":{}}\n{"state":'),
    })
    await page.getByRole('alert').getByText('bad.jsonl: Line 2: ').waitFor()
  })

  await t.test('a file that oi eval takes is opened, whatever its lines ask', async (t) => {
    const late = { late: { type: 'noul', instructions: 'Is it late?' } }
    const urgency = {
      urgency: { type: 'score', instructions: 'How urgent?', criteria: ['a', 'b'] },
    }
    const lines = [
      { state: 'The train is late.', questions: late, expected: { late: true } },
      { images: [], state: { text: 'Now!' }, questions: urgency, expected: { urgency: 1 } },
    ]
    const text = `\uFEFF${lines.map((line) => JSON.stringify(line)).join('\r\n\r\n')}\r\n`
    const buffer = Buffer.from(text.replace('"urgency":1}', '"urgency":1.0}'))
    const rows = async (bytes: Buffer) => {
      const read = []
      for await (const row of rowsOf(Readable.from([bytes]), limits)) read.push(row.expected)
      return read
    }
    const right = await rows(buffer)
    t.equal(right.length, 2)
    await page
      .getByLabel('File of cases')
      .setInputFiles({ name: 'mixed.jsonl', mimeType: 'application/x-ndjson', buffer })
    await page.getByLabel('Right answer of case 2 to urgency').waitFor()
    t.equal(await page.getByLabel('Right answer of case 1 to late').inputValue(), 'yes')
    t.equal(await page.getByLabel('Right answer of case 1 to urgency').count(), 0)
    await page.getByRole('button', { name: 'Run 2 requests' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    t.equal(await page.locator('.cell-verdict').count(), 4)
    t.equal(
      await page
        .locator('.cell-answers .sub')
        .getByText(/^(?:right|wrong)$/)
        .count(),
      4,
    )
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save file' }).click(),
    ])
    t.strictSame(await rows(readFileSync(await download.path())), right)
  })

  await t.test('removed or replaced cases can be restored', async (t) => {
    const undo = page.getByRole('button', { name: 'Undo' })
    await page.getByLabel('State of case 1').fill('My own words.')
    await page.getByRole('button', { name: 'Remove all cases' }).click()
    await page.getByText('No cases yet').waitFor()
    await undo.click()
    t.equal(await page.getByLabel('State of case 1').inputValue(), 'My own words.')
    await page.getByLabel('File of cases').setInputFiles({
      name: 'one.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from('{"state":"a","questions":{"late":{"type":"noul","instructions":"?"}}}'),
    })
    await page.getByLabel('Right answer of case 1 to late').waitFor()
    await undo.click()
    t.equal(await page.getByLabel('State of case 1').inputValue(), 'My own words.')
    await undo.click()
    t.equal(await page.getByLabel('State of case 1').inputValue(), 'a')
  })
})
