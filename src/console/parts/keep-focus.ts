/**
 * Moves the focus when its element is removed, for example with a row: to the element in its place.
 * Otherwise a keyboard user would start at the top of the page again.
 *
 * @module
 */

interface Step {
  readonly parent: Element
  readonly index: number
}

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled)'

/** @returns A function that ends it. */
export function keepFocus(root: HTMLElement): () => void {
  let last: Element | undefined
  /** The path from the focused element outwards. */
  let way: readonly Step[] = []
  const note = ({ target }: FocusEvent) => {
    last = target as Element
    way = wayTo(root, last)
  }
  const forget = ({ target }: FocusEvent) => {
    // Browsers also fire this event in the middle of a removal.
    queueMicrotask(() => {
      if ((target as Element).isConnected && last === target) last = undefined
    })
  }
  const observer = new MutationObserver(() => {
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return
    last = undefined
    nextOn(way)?.focus({ preventScroll: true })
  })
  root.addEventListener('focusin', note)
  root.addEventListener('focusout', forget)
  observer.observe(root, { childList: true, subtree: true })
  return () => {
    root.removeEventListener('focusin', note)
    root.removeEventListener('focusout', forget)
    observer.disconnect()
  }
}

function wayTo(root: Element, from: Element): readonly Step[] {
  const way: Step[] = []
  for (let at = from; at !== root; at = at.parentElement!) {
    const parent = at.parentElement!
    way.push({ parent, index: [...parent.children].indexOf(at) })
  }
  return way
}

/** The element at the place of the innermost removed one, or behind it, or before it. */
function nextOn(way: readonly Step[]): HTMLElement | undefined {
  for (const { parent, index } of way) {
    if (!parent.isConnected) continue
    const all = [...parent.children]
    const found = [...all.slice(index), ...all.slice(0, index).reverse()]
      .map((one) =>
        one.matches(focusable) ? (one as HTMLElement) : one.querySelector<HTMLElement>(focusable),
      )
      .find((one) => one?.checkVisibility({ visibilityProperty: true }))
    if (found) return found
  }
  return undefined
}
