/** Models and settings of a running server, in a browser. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fixturePath } from '../helpers/fixture.js'
import { consoleTest } from '../helpers/console.js'

const mainScript = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** The files that `oi models pull` leaves. */
const pull = (dataDir: string, file: string) =>
  promisify(execFile)(process.execPath, [
    ...[mainScript, 'models', 'pull', file, '--name', 'pulled', '--data-dir', dataDir],
  ])

consoleTest('models and settings', { args: ['--threads', '1'] }, async (t, console) => {
  const { page } = console
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await console.signInFirst()
  await console.open('models', 'Models')

  await t.test('a model is loaded, reloaded, priced and unloaded', async (t) => {
    await row('oi-small').getByText('Ready').waitFor()
    await pull(console.dataDir, await fixturePath('small'))
    const load = page.getByRole('dialog', { name: 'Load model' })
    await page.getByRole('button', { name: 'Load model' }).click()
    await load.getByLabel('File').fill('small.gguf')
    await load.getByRole('button', { name: 'Load model' }).click()
    await load.getByText('An absolute path').waitFor()
    await load.getByLabel('File').fill('pulled')
    await load.getByLabel('Name', { exact: true }).fill('second')
    await load.getByLabel('Aliases').fill('two')
    await load.getByRole('button', { name: 'Load model' }).click()
    await load.waitFor({ state: 'detached' })
    await row('second').getByText('Ready').waitFor()

    await page.getByRole('link', { name: 'second' }).click()
    await page.getByRole('heading', { name: 'second', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Card' }).getByText('sha256:').waitFor()
    const price = page.getByRole('region', { name: 'Price' })
    await price.getByLabel('Input tokens').fill('cheap')
    await price.getByText('A number of 0 or more').waitFor()
    await price.getByLabel('Input tokens').fill('0.15')
    await price.getByRole('button', { name: 'Save price' }).click()
    await price.getByRole('button', { name: 'Save price', disabled: true }).waitFor()
    const { prices } = await console.admin<{ prices: object[] }>('GET', '/prices')
    t.match(prices, [{ model: 'second', input: 150_000 }])

    await page.getByRole('button', { name: 'Reload…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reload model' }).click()
    await page.getByRole('button', { name: 'Reload…', disabled: false }).waitFor()
    await page.getByRole('button', { name: 'Unload…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unload model' }).click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await row('second').waitFor({ state: 'detached' })
  })

  await t.test('a model that cannot be loaded says why', async (t) => {
    console.expect(/status of [45]\d\d/)
    const load = page.getByRole('dialog', { name: 'Load model' })
    await page.getByRole('button', { name: 'Load model' }).click()
    await load.getByLabel('File').fill('/nowhere/model.gguf')
    await load.getByRole('button', { name: 'Load model' }).click()
    t.match(await load.getByRole('alert').innerText(), /model\.gguf/)
    await page.keyboard.press('Escape')
    await load.waitFor({ state: 'detached' })
  })

  await t.test('settings show their source', async (t) => {
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel(/Only those set by hand/).check()
    const names = await page.getByRole('rowheader').allInnerTexts()
    t.ok(names.some((name) => name.startsWith('threads')))
    t.notOk(
      names.some((name) => name.startsWith('maxBodyBytes')),
      'defaults are left out',
    )
    await row('threads').getByText('flag', { exact: true }).waitFor()
  })
})
