/**
 * The theme: light, dark, or the system's.
 *
 * @module
 */

export type Theme = 'system' | 'light' | 'dark'

const name = 'oi-theme'

export function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(name)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function keepTheme(theme: Theme): void {
  applyTheme(theme)
  try {
    localStorage.setItem(name, theme)
  } catch {
    // Storage is disabled: the theme lasts until the page is left.
  }
}
