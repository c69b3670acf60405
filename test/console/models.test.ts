/** Models and settings of a running server, in a browser. */
import t from 'tap'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fixturePath } from '../helpers/fixture.js'
import { consoleTest } from '../helpers/console.js'
import { HubServer } from '../helpers/hub-server.js'
import { defaultModelPath } from '../../src/models/default-model.js'

const mainScript = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** The files that `oi models pull` leaves. */
const pull = (dataDir: string, file: string) =>
  promisify(execFile)(process.execPath, [
    ...[mainScript, 'models', 'pull', file, '--name', 'pulled', '--data-dir', dataDir],
  ])

const hubOnce = HubServer.start(t)
const options = async () => ({
  args: ['--threads', '1'],
  environment: { HF_ENDPOINT: (await hubOnce).origin, HF_TOKEN: '' },
})

consoleTest('models and settings', options, async (t, console) => {
  const { page } = console
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await console.signInFirst()
  await console.open('models', 'Models')

  await t.test('a model is loaded, reloaded, priced and unloaded', async (t) => {
    await row('oi-small').getByText('Ready').waitFor()
    await pull(console.dataDir, await fixturePath('small'))
    const load = page.getByRole('dialog', { name: 'Load model' })
    await row('pulled').getByText('Not loaded').waitFor()
    await page.getByRole('button', { name: 'Load model' }).click()
    await load.getByText(/of memory for its weights.* are free/).waitFor()
    await load.getByLabel('Model', { exact: true }).selectOption('Another file')
    await load.getByLabel('File').fill('small.gguf')
    await load.getByRole('button', { name: 'Load model' }).click()
    await load.getByText('An absolute path').waitFor()
    await load.getByLabel('Model', { exact: true }).selectOption('pulled')
    await load.getByText('Settings of this model').click()
    await load.getByLabel('Threads').fill('1')
    await load.getByLabel(/Load it again when the server starts/).check()
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

    await page.getByRole('button', { name: 'Keep no more' }).click()
    await page.getByRole('button', { name: 'Keep over restarts' }).waitFor()
    await page.getByRole('button', { name: 'Reload…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reload model' }).click()
    await page.getByRole('button', { name: 'Reload…', disabled: false }).waitFor()
    await page.getByRole('button', { name: 'Unload…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unload model' }).click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await row('second').waitFor({ state: 'detached' })
  })

  await t.test('a model is pulled, offered to be loaded, and removed', async (t) => {
    const hub = await hubOnce
    hub.repositories['owner/tiny-GGUF'] = {
      'tiny-Q8_0.gguf': { bytes: await readFile(defaultModelPath) },
    }
    hub.trouble = ({ range }) => (range === undefined || range[1] === 0 ? {} : { silentAfter: 1e6 })
    await page.getByRole('button', { name: 'Pull model' }).click()
    const pull = page.getByRole('dialog', { name: 'Pull model' })
    await pull.getByLabel('Source').fill('/etc/passwd')
    await pull.getByRole('button', { name: 'Pull model' }).click()
    await pull.getByText('an address that begins with https://').waitFor()
    await pull.getByLabel('Source').fill('hf:owner/tiny-GGUF')
    await pull.getByLabel('Name', { exact: true }).fill('tiny')
    await pull.getByRole('button', { name: 'Pull model' }).click()
    await page.getByText(/MB of 2\d\.\d MB/).waitFor()
    console.expect(/status of 409/)
    await pull.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: /^Stop/ }).click()
    await row('tiny').getByText('Not whole').waitFor()

    hub.trouble = () => undefined
    await page.getByRole('button', { name: 'Pull model' }).click()
    await pull.getByLabel('Source').fill('hf:owner/tiny-GGUF')
    await pull.getByLabel('Name', { exact: true }).fill('tiny')
    await pull.getByRole('button', { name: 'Pull model' }).click()
    const load = page.getByRole('dialog', { name: 'Load model' })
    await load.waitFor()
    t.equal(await load.getByLabel('Model', { exact: true }).inputValue(), 'tiny')
    await load.getByRole('button', { name: 'Cancel' }).click()
    await row('tiny').getByText('Not loaded').waitFor()
    await row('tiny').getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove model' }).click()
    await row('tiny').waitFor({ state: 'detached' })
  })

  await t.test('a model that cannot be loaded says why', async (t) => {
    console.expect(/status of [45]\d\d/)
    const load = page.getByRole('dialog', { name: 'Load model' })
    await page.getByRole('button', { name: 'Load model' }).click()
    await load.getByLabel('Model', { exact: true }).selectOption('Another file')
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
