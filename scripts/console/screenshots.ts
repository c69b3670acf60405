/**
 * `npm run screenshots`: images of every page of the console, light, dark and narrow, empty, full
 * and without its server, in `build/screenshots`, to be looked at. Smaller ones for the guide are
 * in `build/screenshots/guide`, to replace those in `src/console/pictures`.
 *
 * @module
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { type ConsoleTest, consolePages, consoleTest } from '../../test/helpers/console.js'
import { fillAccounts } from '../../test/helpers/full-accounts.js'
import { root } from '../build/paths.js'

const folder = join(root, 'build', 'screenshots')

const looks = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 360, height: 780 } },
] as const

/** Pages in the guide, by the names of their images. */
const guide: Readonly<Record<string, string>> = {
  keys: 'keys',
  playground: 'playground',
  'usage?by=key': 'usage',
}
const guideWidth = 960

const chosen = process.argv[2]

for (const look of looks) {
  for (const state of ['empty', 'full', 'failing']) {
    const name = `${state}-${look.name}`
    if (chosen !== undefined && !name.includes(chosen)) continue
    const { colorScheme, viewport } = look
    const options = { colorScheme, viewport, ...(state === 'full' && { prepare: fillAccounts }) }
    consoleTest(name, options, (_, console) => shoot(console, state, join(folder, name)))
  }
}

async function shoot(console: ConsoleTest, state: string, into: string): Promise<void> {
  const { page } = console
  rmSync(into, { recursive: true, force: true })
  for (const made of [into, join(folder, 'guide')]) mkdirSync(made, { recursive: true })
  let number = 0
  const shot = (what: string) =>
    page.screenshot({ path: join(into, `${String(++number).padStart(2, '0')}-${what}.png`) })
  await page.goto(console.server.url(console.firstLink))
  await page.getByRole('heading', { name: 'Set the password' }).waitFor()
  await shot('first-sign-in')
  await console.signInFirst()
  if (state === 'full') await manyModels(console)
  if (state === 'failing') {
    console.expect(/ERR_/)
    await console.server.stop('SIGKILL')
  }
  for (const [address, heading] of consolePages) {
    if (state === 'failing') {
      await page.evaluate(`location.hash = '#/${address}'`)
      await page.waitForTimeout(500)
    } else {
      await console.open(address, heading)
      await console.settle()
    }
    if (state === 'full') await use(console, address)
    const picture = await shot(address.replaceAll(/\W/g, '-'))
    if (into.endsWith('full-light') && guide[address] !== undefined) {
      const small = sharp(picture).resize({ width: guideWidth }).png({ palette: true })
      await small.toFile(join(folder, 'guide', `${guide[address]}.png`))
    }
  }
  if (state !== 'empty') return
  await console.open('keys', 'API keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await shot('create-key')
  await page.getByLabel('Name').fill('invoices')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('API key', { exact: true }).waitFor()
  await shot('secret')
}

/** A hundred models cannot run here: the server's entry of one is shown under other names. */
async function manyModels(console: ConsoleTest): Promise<void> {
  await console.page.route('**/admin/v1/models', async (route) => {
    const reply = await route.fetch()
    const body = (await reply.json()) as { models: { name: string }[]; under_way: unknown[] }
    const [first] = body.models
    const others = Array.from({ length: 99 }, (_, i) => ({
      ...first,
      name: `model-${i + 2}-instruct`,
      default: false,
      aliases: [],
      state: i % 17 === 3 ? 'loading' : i % 23 === 5 ? 'failed' : 'ready',
    }))
    await route.fulfill({ json: { ...body, models: [...body.models, ...others] } })
  })
}

/** Fills a page with content. */
async function use({ page }: ConsoleTest, address: string): Promise<void> {
  if (address === 'playground') {
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await page.getByRole('button', { name: 'Run' }).click()
    await page.locator('.verdict').waitFor()
  }
  if (address === 'compare') {
    await page.getByRole('button', { name: 'Insert an example' }).click()
    await page.getByRole('group', { name: 'Column 2' }).getByLabel('Temperature').fill('2')
    await page.getByRole('button', { name: 'Run 8 requests' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  }
  if (address.startsWith('usage') && page.viewportSize()!.width > 900) {
    await page.locator('.chart svg').hover({ position: { x: 700, y: 100 } })
  }
}
