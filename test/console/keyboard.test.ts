/** The whole console by keyboard alone: everything gets the focus, visibly, and can be used. */
import type { Page } from 'playwright-core'
import { consolePages, consoleTest } from '../helpers/console.js'

/** What a keyboard user needs. */
const hands = (page: Page) => {
  const focused = () =>
    page.evaluate<string>(
      `document.activeElement.getAttribute('aria-label') ??
        document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent`,
    )
  /** Tabs until the element with that name has the focus. */
  const tabTo = async (name: RegExp) => {
    for (let steps = 0; steps < 100; steps++) {
      if (name.test(await focused())) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Nothing named ${String(name)} can be reached`)
  }
  return { focused, tabTo }
}

consoleTest('a key is made and revoked by keyboard alone', {}, async (t, console) => {
  const { page } = console
  const { keyboard } = page
  const { focused, tabTo } = hands(page)
  await page.goto(console.server.url(console.firstLink))
  await page.getByRole('heading', { name: 'Set the password' }).waitFor()
  await keyboard.type('a password by keyboard')
  await keyboard.press('Tab')
  await keyboard.type('a password by keyboard')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await tabTo(/^API keys$/)
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await tabTo(/^Create key$/)
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await keyboard.type('by keyboard')
  await keyboard.press('Enter')
  await page.getByLabel('API key', { exact: true }).waitFor()
  await keyboard.press('Escape')
  t.ok(await page.getByLabel('API key', { exact: true }).isVisible(), 'Escape does not lose it')
  await tabTo(/^I have copied it$/)
  await keyboard.press('Enter')
  await page.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor()
  await tabTo(/^More actions for key by keyboard$/)
  await keyboard.press('Enter')
  // The browser reports an open menu one task later.
  await page.locator('[role=menuitem]:focus').waitFor()
  await keyboard.press('End')
  t.equal(await focused(), 'Revoke…')
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(/^Revoke key$/)
  await keyboard.press('Enter')
  await page.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor({ state: 'detached' })
})

/**
 * In the page. Marks usable elements: of radio buttons with one name, the keyboard reaches the
 * chosen one.
 */
const note = `{
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
  window.unreached = new Set([...document.querySelectorAll(usable)].filter((element) =>
    !element.disabled && element.checkVisibility({ visibilityProperty: true }) &&
    element.tabIndex >= 0 && (element.type !== 'radio' || element.checked)))
  window.bare = []
}`

/** In the page. Removes the focus, and reports a focus that cannot be seen. */
const look = `{
  const element = document.activeElement
  window.unreached.delete(element)
  // A radio button is as large as its label, which has the mark.
  const shown = element.type === 'radio' ? element.nextElementSibling : element
  const marked = [shown, shown.parentElement].some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
  })
  const { top, bottom } = element.getBoundingClientRect()
  if (element !== document.body && (!marked || bottom < 0 || top > innerHeight)) {
    window.bare.push(element.outerHTML.slice(0, 120))
  }
  window.unreached.size > 0
}`

consoleTest('on every page everything gets the focus, visibly', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  for (const [address, heading] of consolePages) {
    await console.open(address, heading)
    await console.settle()
    await page.evaluate(note)
    // It begins at the heading, and after the last element returns to the top.
    for (let steps = 0, left = true; left && steps < 150; steps++) {
      await page.keyboard.press('Tab')
      left = await page.evaluate<boolean>(look)
    }
    const left = await page.evaluate<string[]>(
      `[...window.unreached].map(({ outerHTML }) => outerHTML.slice(0, 120))`,
    )
    t.strictSame(left, [], `${address}: all of it is reached`)
    t.strictSame(await page.evaluate<string[]>('window.bare'), [], `${address}: and seen`)
  }
})

consoleTest('requests and pages work by keyboard', {}, async (t, console) => {
  const { page } = console
  const { keyboard } = page
  const { focused, tabTo } = hands(page)
  await console.signInFirst()
  await keyboard.press('Tab')
  t.equal(await focused(), 'Skip to content')
  await tabTo(/^Playground$/)
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  await tabTo(/^Choice$/)
  await keyboard.press('Enter')
  await tabTo(/^State, a text$/)
  await keyboard.press('Control+A')
  await keyboard.type('The invoice is wrong.')
  await keyboard.press('Control+Enter')
  await page.getByRole('article', { name: 'Answer to team' }).waitFor()
  await tabTo(/^View code$/)
  await keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Code' }).waitFor()
  await keyboard.press('Escape')
  // Where it was: the focus returns in its own turn, after the dialog has gone.
  await page.locator(':focus', { hasText: /^View code$/ }).waitFor()
})
