/**
 * Buttons.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import type { Action } from '../use-load.js'
import { Icon, type IconName } from './icons.js'

interface ButtonProps {
  /** What it runs; without it and `onClick` it sends its form. */
  readonly action?: Action<[]>
  readonly onClick?: () => void
  readonly kind?: 'main' | 'danger'
  readonly small?: boolean
  readonly icon?: IconName
  /** Its name for screen readers, where its text does not say enough. */
  readonly label?: string
  readonly disabled?: boolean
  /** Whether it does nothing now, but keeps the focus. Default: while its action runs. */
  readonly busy?: boolean
  /** The shortcut that does the same. */
  readonly keys?: string
  readonly children: ComponentChildren
}

export function Button({
  action,
  kind,
  small,
  icon,
  label,
  keys,
  children,
  ...props
}: ButtonProps) {
  const { disabled, busy = action?.busy, onClick = action && (() => void action.run()) } = props
  const looks = [kind && ` button-${kind}`, small && ' small'].filter(Boolean)
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={`button${looks.join('')}`}
      aria-label={label}
      aria-keyshortcuts={keys}
      aria-disabled={busy}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface RemoveButtonProps {
  /** What it removes, as `Remove column 2`. */
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** A cross that removes something, or closes it. */
export function RemoveButton({ label, disabled, onClick }: RemoveButtonProps) {
  return (
    <button
      type="button"
      class="button-quiet"
      aria-label={label}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name="close" />
    </button>
  )
}
