/**
 * The dialog that loads one more model: one that has a name on the server's machine, or any file.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { bytes } from '../format.js'
import { FormDialog } from '../parts/dialog.js'
import { CheckField, SelectField, TextField, useCheck, useText } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { ModelState, NamedModel, NewModel, Server } from '../wire.js'
import { noSettings, readSettings, SettingFields } from './setting-fields.js'

interface LoadDialogProps {
  /** Those that may be loaded, by name. */
  readonly named: readonly NamedModel[]
  /** The one that is chosen at first; undefined: the first. */
  readonly chosen?: string | undefined
  readonly onClose: () => void
  readonly onStarted: () => void
  readonly onLoaded: () => void
}

const otherFile = ''

export function LoadDialog({ named, chosen, onClose, onStarted, onLoaded }: LoadDialogProps) {
  const [choice, choiceField] = useText(chosen ?? named[0]?.name ?? otherFile)
  const [path, pathField] = useText()
  const [name, nameField] = useText()
  const [aliases, aliasesField] = useText()
  const [isDefault, isDefaultField] = useCheck()
  const [isKept, isKeptField] = useCheck()
  const [settings, setSettings] = useState(noSettings)
  const [tried, setTried] = useState(false)
  const server = useLoad<Server>('/server')
  const file = (choice === otherFile ? path : choice).trim()
  const read = readSettings(settings)
  const mistake = /^\/|^(?!.*\.gguf$)[\w.-]+$/i.test(file)
    ? undefined
    : 'An absolute path, as /models/name.gguf, or the name of a pulled model.'
  const load = useAction(async () => {
    setTried(true)
    if (mistake !== undefined || typeof read === 'string') return
    const names = aliases.split(/[\s,]+/).filter(Boolean)
    const body: NewModel = {
      file,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(names.length > 0 && { aliases: names }),
      ...(isDefault && { default: true }),
      ...(isKept && { keep: true }),
      ...(Object.keys(read).length > 0 && { settings: read }),
    }
    const started = call<ModelState>('/models', { method: 'POST', body })
    onStarted()
    say(`${(await started).name} is loaded.`)
    onLoaded()
  })
  return (
    <FormDialog
      title="Load model"
      deed="Load model"
      action={load}
      onClose={onClose}
      going="Loading"
    >
      {named.length > 0 && (
        <SelectField
          label="Model"
          {...choiceField}
          options={[
            ...named.map((model) => ({ value: model.name, text: textOf(model) })),
            { value: otherFile, text: 'Another file' },
          ]}
          hint={needs(
            named.find((one) => one.name === choice),
            server.data,
          )}
        />
      )}
      {choice === otherFile && (
        <TextField
          label="File"
          {...pathField}
          hint="Absolute path of a GGUF file on the server’s machine."
          error={tried ? mistake : undefined}
          input={{ class: 'mono', placeholder: '/models/name.gguf', autofocus: true }}
        />
      )}
      <TextField
        label="Name"
        {...nameField}
        hint="The name that requests use. Default: from the file."
      />
      <TextField
        label="Aliases"
        {...aliasesField}
        hint="Further names, with spaces between them."
      />
      <CheckField label="Answers requests that name no model" {...isDefaultField} />
      <CheckField label="Load it again when the server starts" {...isKeptField} />
      <SettingFields
        of={settings}
        onChange={setSettings}
        error={tried && typeof read === 'string' ? read : undefined}
      />
    </FormDialog>
  )
}

function textOf({ name, quantization }: NamedModel): string {
  return quantization === '' ? name : `${name}, ${quantization}`
}

/** What its weights take, against what is free. */
function needs(model: NamedModel | undefined, server: Server | undefined): string | undefined {
  if (model === undefined) return undefined
  const free = server === undefined ? '' : `; ${bytes(server.memory.available_bytes)} are free`
  return `${bytes(model.bytes)} of memory for its weights, and more for its context${free}.`
}
