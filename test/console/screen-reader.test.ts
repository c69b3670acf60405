/**
 * The console for a screen reader: the browser's accessibility tree. Names and roles of all
 * controls, live regions, and the path of the focus.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import type { Test } from 'tap'
import { type ConsoleTest, consolePages, consoleTest } from '../helpers/console.js'

/** Controls, which must have a name. */
const controls = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio'],
  ...['menuitem', 'switch', 'slider', 'spinbutton', 'tab', 'Date', 'DisclosureTriangle'],
])
/** Elements that are found by their name among others of their kind. */
const places = new Set(['dialog', 'region', 'navigation', 'table', 'menu', 'meter', 'image', 'img'])

interface Node {
  readonly id: string
  readonly role: string
  readonly name: string
  readonly parent: Node | undefined
  /** `assertive` or `polite` in a live region. */
  readonly live: string | undefined
}

/** All that is read, in its order. */
async function treeOf(devtools: CDPSession): Promise<readonly Node[]> {
  const { nodes } = await devtools.send('Accessibility.getFullAXTree')
  const found = new Map<string, Node>()
  for (const { nodeId, parentId, ignored, role, name, properties = [] } of nodes) {
    const parent = parentId === undefined ? undefined : found.get(parentId)
    const live = properties.find((one) => one.name === 'live')?.value.value as string | undefined
    found.set(nodeId, {
      id: nodeId,
      role: ignored ? '' : String(role?.value ?? ''),
      name: String(name?.value ?? '').trim(),
      parent,
      live: live === undefined || live === 'off' ? parent?.live : live,
    })
  }
  return [...found.values()].filter(({ role }) => role !== '')
}

/** Texts of live regions. */
const spoken = (tree: readonly Node[], live: string): string =>
  tree
    .filter((node) => node.role === 'StaticText' && node.live === live)
    .map(({ name }) => name)
    .join(' ')

/** Checks the rules for everything that is read. */
function checkNames(t: Test, tree: readonly Node[], what: string): void {
  const nameless = tree.filter(
    ({ role, name }) => name === '' && (controls.has(role) || places.has(role)),
  )
  t.strictSame(
    nameless.map(({ role, id, parent }) => `${role} ${id} in ${parent?.role} ${parent?.name}`),
    [],
    `${what}: all has a name`,
  )
  t.ok(tree.filter(({ role }) => controls.has(role)).length > 1, `${what}: there is something`)
}

interface Reader {
  readonly tree: () => Promise<readonly Node[]>
  /**
   * Role and name of the focused element: returns when they match, or after five seconds, because
   * the browser's tree follows its page a little later.
   */
  readonly focused: (expected: RegExp) => Promise<string>
}

async function readerOf({ page, context }: ConsoleTest): Promise<Reader> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('Accessibility.enable')
  const read = async () => {
    const { result } = await devtools.send('Runtime.evaluate', {
      expression: 'document.activeElement',
    })
    const { nodes } = await devtools.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId!,
      fetchRelatives: false,
    })
    const [node] = nodes
    return `${node?.role?.value} ${node?.name?.value ?? ''}`.trim()
  }
  const focused = async (expected: RegExp) => {
    const until = Date.now() + 5000
    for (;;) {
      const found = await read()
      if (expected.test(found) || Date.now() > until) return found
      await sleep(20)
    }
  }
  return { tree: () => treeOf(devtools), focused }
}

consoleTest('on every page all controls have a name', {}, async (t, console) => {
  const { page } = console
  const { tree } = await readerOf(console)
  await page.goto(console.server.url(console.firstLink))
  await page.getByRole('heading', { name: 'Set the password' }).waitFor()
  checkNames(t, await tree(), 'first sign-in')
  await console.signInFirst()
  for (const [address, heading] of consolePages) {
    await console.open(address, heading)
    await console.settle()
    const all = await tree()
    checkNames(t, all, address)
    const headings = all.filter(({ role }) => role === 'heading').map(({ name }) => name)
    t.ok(headings.includes(heading), `${address}: ${headings.join(', ')}`)
    for (const one of ['main', 'navigation'])
      t.ok(
        all.some(({ role }) => role === one),
        one,
      )
  }
})

consoleTest('dialogs are read alone, and return the focus', {}, async (t, console) => {
  const { page } = console
  const { tree, focused } = await readerOf(console)
  await console.signInFirst()
  const workspace = { name: 'shop', budget: { tokens: 1000, period: 'month' } }
  const { id } = await console.admin<{ id: number }>('POST', '/workspaces', workspace)
  await console.admin('POST', `/workspaces/${id}/credit`, { amount: 5_000_000 })
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const choose = async (deed: string) => {
    await click('More actions for key first')
    await page.getByRole('menuitem', { name: deed }).click()
  }
  for (const [address, heading, title, opener, open] of [
    ['keys', 'API keys', 'Create key', 'Create key', () => click('Create key')],
    ['keys', 'API keys', 'Edit key first', '', () => click('Edit key first')],
    ['keys', 'API keys', 'Rotate key first', 'More', () => choose('Rotate…')],
    ['keys', 'API keys', 'Block key first', 'More', () => choose('Block…')],
    ['keys', 'API keys', 'Revoke key first', 'More', () => choose('Revoke…')],
    ['workspaces', 'Workspaces', 'Create workspace', '', () => click('Create workspace')],
    [`workspaces/${id}`, 'shop', 'Lift the limit of shop', '', () => click('Lift the limit…')],
    ['models', 'Models', 'Load model', '', () => click('Load model')],
    ['models/oi-small', 'oi-small', 'Reload oi-small', '', () => click('Reload…')],
    ['models/oi-small', 'oi-small', 'Unload oi-small', '', () => click('Unload…')],
  ] as const) {
    await console.open(address, heading)
    await console.settle()
    await open()
    await page.getByRole('dialog', { name: title }).waitFor()
    const all = await tree()
    checkNames(t, all, title)
    t.equal(all.filter(({ role }) => role === 'main').length, 0, `${title}: nothing behind it`)
    const inIt = /^(?!RootWebArea|generic|none|undefined)./
    t.match(await focused(inIt), inIt, `${title}: the focus is in it`)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator(':focus').waitFor()
    const back = new RegExp(`^button ${opener}`)
    t.match(await focused(back), back, `${title}: the focus is given back`)
  }
})

consoleTest('mistakes, refusals and actions are read out', {}, async (t, console) => {
  const { page } = console
  const { tree, focused } = await readerOf(console)
  console.expect(/status of 4\d\d/)
  await console.signInFirst()
  await console.open('keys', 'API keys')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const section = (name: string) => page.getByRole('region', { name })
  const dialog = page.getByRole('dialog')

  await t.test('a wrong field has the focus, and its reason', async (t) => {
    await button('Create key').click()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.locator(':focus[aria-invalid=true]').waitFor()
    t.equal(await focused(/^textbox Name$/), 'textbox Name')
    const note = await page.evaluate<string>(
      `document.getElementById(document.activeElement.getAttribute('aria-describedby')).innerText`,
    )
    t.equal(note, 'Say what the key is for.')
    await page.keyboard.press('Escape')
  })

  await t.test('a refusal is an alert', async (t) => {
    await console.open('settings', 'Settings')
    await page.getByLabel('Current password').fill('wrong horse battery')
    await page.getByLabel('New password', { exact: true }).fill('another good password')
    await page.getByLabel('Repeat the new password').fill('another good password')
    await button('Change password').click()
    await page.getByRole('alert').waitFor()
    t.match(spoken(await tree(), 'assertive'), 'The current password is wrong')
    t.equal(await focused(/^button Change password$/), 'button Change password')
  })

  await t.test('saving is announced', async (t) => {
    await console.open('workspaces/1', 'default')
    await section('Budget').getByLabel('Tokens').fill('5M')
    await button('Set budget').click()
    await page.getByText('The budget is set.').waitFor()
    t.match(spoken(await tree(), 'polite'), 'The budget is set.')
    t.equal(await focused(/^button Save budget$/), 'button Save budget', 'the focus stays')
  })

  await t.test('answers are announced, and the wait for them too', async (t) => {
    await console.open('playground', 'Playground')
    await page.locator('.examples').getByRole('button', { name: 'Choice' }).click()
    await page.keyboard.press('Control+Enter')
    await page.locator('.verdict').waitFor()
    t.match(spoken(await tree(), 'polite'), await page.locator('.verdict').innerText())
  })

  await t.test('revoking a key leaves the focus in the list', async (t) => {
    await console.admin('POST', '/keys', { workspace_id: 1, name: 'till' })
    await console.open('keys', 'API keys')
    await button('More actions for key till').click()
    await page.getByRole('menuitem', { name: 'Revoke…' }).click()
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('row').filter({ hasText: 'till' }).waitFor({ state: 'detached' })
    await page.getByText('Key till is revoked.').waitFor()
    t.match(spoken(await tree(), 'polite'), 'Key till is revoked.')
    t.equal(await focused(/^link default$/), 'link default')
  })

  await t.test('removing an element leaves the focus beside it', async (t) => {
    await console.open('compare', 'Compare')
    await button('Insert an example').click()
    for (const [name, next] of [
      ['Remove option 2', 'button Remove option 2'],
      ['Remove column 1', 'combobox Model'],
      ['Remove case 4', 'checkbox JSON'],
      ['Remove question team', 'button Yes or no'],
      ['Remove all cases', 'button Undo'],
    ] as const) {
      await button(name).focus()
      await page.keyboard.press('Enter')
      await page.locator(':focus').waitFor()
      t.equal(await focused(new RegExp(`^${next}$`)), next, name)
    }
  })
})
