/**
 * The dialog that loads one more model from a file on the server's machine.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { Dialog, FormIn } from '../parts/dialog.js'
import { CheckField, Field, TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { ModelState, NewModel } from '../wire.js'

interface LoadDialogProps {
  readonly onClose: () => void
  readonly onStarted: () => void
  readonly onLoaded: () => void
}

export function LoadDialog({ onClose, onStarted, onLoaded }: LoadDialogProps) {
  const [file, setFile] = useState('')
  const [name, setName] = useState('')
  const [aliases, setAliases] = useState('')
  const [isDefault, setDefault] = useState(false)
  const [settings, setSettings] = useState('')
  const [tried, setTried] = useState(false)
  const read = readSettings(settings)
  const mistakes = {
    file: /^\/|^(?!.*\.gguf$)[\w.-]+$/i.test(file.trim())
      ? undefined
      : 'An absolute path, as /models/name.gguf, or the name of a pulled model.',
    settings: typeof read === 'string' ? read : undefined,
  }
  const load = useAction(async () => {
    setTried(true)
    if (mistakes.file !== undefined || typeof read === 'string') return
    const names = aliases.split(/[\s,]+/).filter(Boolean)
    const body: NewModel = {
      file: file.trim(),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(names.length > 0 && { aliases: names }),
      ...(isDefault && { default: true }),
      ...(Object.keys(read).length > 0 && { settings: read }),
    }
    const started = call<ModelState>('/models', { method: 'POST', body })
    onStarted()
    say(`${(await started).name} is loaded.`)
    onLoaded()
  })
  return (
    <Dialog title="Load model" onClose={onClose}>
      <FormIn action={load}>
        <TextField
          label="File"
          value={file}
          onValue={setFile}
          hint="Absolute path of a GGUF file on the server’s machine, or the name of a pulled model."
          error={tried ? mistakes.file : undefined}
          input={{ class: 'mono', placeholder: '/models/name.gguf', autofocus: true }}
        />
        <TextField
          label="Name"
          value={name}
          onValue={setName}
          hint="The name that requests use. Default: from the file."
        />
        <TextField
          label="Aliases"
          value={aliases}
          onValue={setAliases}
          hint="Further names, with spaces between them."
        />
        <CheckField
          label="Answers requests that name no model"
          checked={isDefault}
          onChecked={setDefault}
        />
        <Field
          label="Settings"
          hint="One per line, as threads = 4. The others are the server’s."
          error={tried ? mistakes.settings : undefined}
        >
          {(wired) => (
            <textarea
              {...wired}
              class="mono"
              rows={3}
              spellcheck={false}
              value={settings}
              onInput={(event) => setSettings(event.currentTarget.value)}
            />
          )}
        </Field>
        {load.busy && (
          <p class="note" role="status">
            <span class="spinner" aria-hidden="true" />
            <span>Loading. You may close this: the server goes on.</span>
          </p>
        )}
        <div class="dialog-foot">
          <button type="button" class="button" onClick={onClose}>
            {load.busy ? 'Close' : 'Cancel'}
          </button>
          <button type="submit" class="button button-main" aria-disabled={load.busy}>
            Load model
          </button>
        </div>
      </FormIn>
    </Dialog>
  )
}

/** @returns The settings, or the mistake as a text. */
function readSettings(text: string): Record<string, string | number | boolean> | string {
  const settings: Record<string, string | number | boolean> = {}
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (line === '') continue
    const match = /^([A-Za-z]\w*)\s*[=:]\s*(.+)$/.exec(line)
    if (match === null) return `Expected a name, = and a value, got “${line}”.`
    const [, name, value] = match
    const number = Number(value)
    settings[name!] =
      value === 'true' || value === 'false'
        ? value === 'true'
        : Number.isNaN(number)
          ? value!
          : number
  }
  return settings
}
