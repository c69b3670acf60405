/**
 * The table of all settings in Markdown.
 *
 * @module
 */

import { type Setting, settings } from '../../src/config.js'
import { markdownTable } from '../markdown.js'

export function settingsTable(): string {
  const rows = settings.map((setting) => [
    [setting.flag, setting.shortcut].filter(Boolean).map(code).join(', '),
    code(setting.variable),
    valuesOf(setting),
    setting.default === '' ? (setting.empty ?? 'none') : code(setting.default),
    setting.live ? 'yes' : '',
    setting.description,
  ])
  return markdownTable(['Flag', 'Variable', 'Value', 'Default', 'Live', ''], rows)
}

function valuesOf({ minimum, maximum, unit, values, isPath, ...setting }: Setting): string {
  if (minimum !== undefined && maximum !== undefined) {
    const range = `${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}`
    return unit === undefined ? range : `${range} ${unit}`
  }
  if (values !== undefined) return values.map(code).join(', ')
  if (typeof setting.default === 'boolean') return 'switch'
  return isPath ? (setting.placeholder ?? 'file') : (setting.placeholder ?? 'text')
}

const code = (value: unknown) => `\`${String(value)}\``
