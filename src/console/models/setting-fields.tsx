/**
 * A model's own settings, in a form: the common ones as fields, the others as lines.
 *
 * @module
 */

import { Field, TextField } from '../parts/field.js'
import { useLoad } from '../use-load.js'
import type { SettingsReport } from '../wire.js'

const fields = [
  { name: 'contextTokens', label: 'Context', unit: 'tokens' },
  { name: 'threads', label: 'Threads', unit: undefined },
  { name: 'device', label: 'Device', unit: undefined },
  { name: 'gpuLayers', label: 'Layers on the GPU', unit: undefined },
] as const

type FieldName = (typeof fields)[number]['name']

/** Texts; an empty one means the server's setting. */
export type Settings = Readonly<Record<FieldName | 'others', string>>

export const noSettings: Settings = {
  ...{ contextTokens: '', threads: '', device: '', gpuLayers: '' },
  others: '',
}

interface SettingFieldsProps {
  readonly of: Settings
  readonly onChange: (settings: Settings) => void
  readonly error: string | undefined
}

export function SettingFields({ of: settings, onChange, error }: SettingFieldsProps) {
  const report = useLoad<SettingsReport>('/settings')
  const serversOf = (name: string) => {
    const value = report.data?.settings.find((setting) => setting.name === name)?.value
    return value === undefined || value === '' ? '' : String(value)
  }
  return (
    <details class="fold" open={error !== undefined}>
      <summary>Settings of this model</summary>
      <div class="form">
        <div class="pair">
          {fields.map(({ name, label, unit }) => (
            <TextField
              key={name}
              label={label}
              value={settings[name]}
              onValue={(value) => onChange({ ...settings, [name]: value })}
              {...(unit !== undefined && { unit })}
              input={{ placeholder: serversOf(name) }}
            />
          ))}
        </div>
        <Field
          label="Other settings"
          hint="One per line, as orders = 2. What is left out is as the server’s."
          error={error}
        >
          {(wired) => (
            <textarea
              {...wired}
              class="mono"
              rows={3}
              spellcheck={false}
              value={settings.others}
              onInput={(event) => onChange({ ...settings, others: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
    </details>
  )
}

/** @returns The settings, or the mistake as a text. */
export function readSettings({
  others,
  ...named
}: Settings): Record<string, string | number | boolean> | string {
  const settings: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(named)) {
    if (value.trim() !== '') settings[name] = valueOf(value.trim())
  }
  for (const line of others.split('\n').map((line) => line.trim())) {
    if (line === '') continue
    const match = /^([A-Za-z]\w*)\s*[=:]\s*(.+)$/.exec(line)
    if (match === null) return `Expected a name, = and a value, got “${line}”.`
    settings[match[1]!] = valueOf(match[2]!)
  }
  return settings
}

function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return Number.isNaN(Number(text)) ? text : Number(text)
}
