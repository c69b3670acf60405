/** Tables of any width: no word is broken, and nothing is wider than the page. */
import { fillAccounts } from '../helpers/full-accounts.js'
import { consolePages, consoleTest } from '../helpers/console.js'

/** A longer word may be broken: a name of 100 letters, an address. */
const mostLetters = 40

/** In the page: the words of its tables that stand on more than one line. */
const brokenWords = `(() => {
  const broken = new Set()
  // The head of a table that is shown as cards is there for screen readers only.
  const isHidden = (part) => getComputedStyle(part).clipPath !== 'none'
  for (const table of document.querySelectorAll('thead, tbody')) {
    if (isHidden(table)) continue
    const nodes = document.createTreeWalker(table, NodeFilter.SHOW_TEXT)
    for (let node; (node = nodes.nextNode()); ) {
      if (!node.parentElement.checkVisibility({ visibilityProperty: true })) continue
      if (node.parentElement.closest('.visually-hidden, textarea')) continue
      // A line may end behind a hyphen or a slash.
      for (const word of node.data.matchAll(/[^\\s/-]+/g)) {
        if (word[0].length > ${mostLetters}) continue
        const range = document.createRange()
        range.setStart(node, word.index)
        range.setEnd(node, word.index + word[0].length)
        const boxes = [...range.getClientRects()].filter(({ width }) => width > 0)
        if (new Set(boxes.map(({ top }) => Math.round(top))).size > 1) broken.add(word[0])
      }
    }
  }
  return [...broken]
})()`

/** In the page: labels of cells shown as cards that run into their values. */
const longLabels = `(() => {
  const context = document.createElement('canvas').getContext('2d')
  const cells = [...document.querySelectorAll('td[data-label]')]
  const long = cells.filter((cell) => {
    const label = getComputedStyle(cell, '::before')
    if (getComputedStyle(cell).display !== 'grid' || label.whiteSpace !== 'nowrap') return false
    context.font = [label.fontWeight, label.fontSize, label.fontFamily].join(' ')
    return context.measureText(cell.dataset.label).width > Number.parseFloat(label.width) + 1
  })
  return [...new Set(long.map((cell) => cell.dataset.label))]
})()`

consoleTest('tables break no word, at any width', { prepare: fillAccounts }, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  for (const [address, heading] of consolePages) {
    await console.open(address, heading)
    await console.settle()
    for (const width of [360, 390, 768, 1101, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      t.strictSame(await page.evaluate(brokenWords), [], `${address} at ${width} px`)
      t.strictSame(await page.evaluate(longLabels), [], `labels of ${address} at ${width} px`)
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      t.ok(wide <= width, `${address} is ${wide} px wide at ${width} px`)
    }
  }
  // The check can fail.
  await page.evaluate(`document.styleSheets[0].insertRule("td { max-width: 4ch !important }")`)
  t.not((await page.evaluate<string[]>(brokenWords)).length, 0)
})
