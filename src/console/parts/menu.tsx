/**
 * A button that opens a list of actions.
 *
 * @module
 */

import { useId, useRef } from 'preact/hooks'
import { Icon } from './icons.js'

export interface Deed {
  readonly name: string
  readonly danger?: boolean
  readonly act: () => void
}

interface MenuProps {
  /** For screen readers, as `Actions for key billing`. */
  readonly label: string
  readonly deeds: readonly Deed[]
}

export function Menu({ label, deeds }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]

  const place = () => {
    const { current } = list
    const at = button.current?.getBoundingClientRect()
    if (!current || !at) return
    const below = at.bottom + current.offsetHeight + 8 < window.innerHeight
    current.style.top = `${below ? at.bottom + 4 : at.top - current.offsetHeight - 4}px`
    current.style.left = `${Math.max(8, at.right - current.offsetWidth)}px`
  }
  const move = (event: KeyboardEvent) => {
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    }
    const next = steps[event.key]
    if (next === undefined) {
      if (event.key === 'Tab') list.current?.hidePopover()
      return
    }
    event.preventDefault()
    all[(next + all.length) % all.length]?.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class="button-quiet"
        aria-label={label}
        aria-haspopup="menu"
        popovertarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState !== 'open') return
          place()
          items()[0]?.focus()
        }}
      >
        {deeds.map(({ name, danger, act }) => (
          <button
            key={name}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={danger ? 'menu-item danger' : 'menu-item'}
            onClick={() => {
              list.current?.hidePopover()
              act()
            }}
          >
            {name}
          </button>
        ))}
      </div>
    </>
  )
}
