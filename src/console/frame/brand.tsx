/**
 * The product's sign.
 *
 * @module
 */

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect class="brand-ground" width="32" height="32" rx="7" />
        <circle class="brand-ring" cx="12.5" cy="18" r="6" />
        <rect class="brand-mark" x="22" y="12" width="3" height="13.5" rx="1.5" />
        <circle class="brand-mark" cx="23.5" cy="7.5" r="2" />
      </svg>
      <span>
        oi <span class="faint">console</span>
      </span>
    </span>
  )
}
