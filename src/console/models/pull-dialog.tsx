/**
 * The dialog that pulls a model to the server's machine.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { bytes } from '../format.js'
import { FormDialog } from '../parts/dialog.js'
import { TextField, useText } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { NamedModel, NamedModels, NewPull } from '../wire.js'

interface PullDialogProps {
  readonly on: NamedModels
  readonly onClose: () => void
  readonly onStarted: () => void
  /** Called when it is there. */
  readonly onPulled: (model: NamedModel) => void
}

export function PullDialog({ on, onClose, onStarted, onPulled }: PullDialogProps) {
  const [source, sourceField] = useText()
  const [name, nameField] = useText()
  const [sha256, sha256Field] = useText()
  const [tried, setTried] = useState(false)
  const mistake = /^(?:hf:|https:\/\/)./.test(source.trim())
    ? undefined
    : 'hf:owner/repository, or an address that begins with https://.'
  const pull = useAction(async () => {
    setTried(true)
    if (mistake !== undefined) return
    const body: NewPull = {
      source: source.trim(),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(sha256.trim() !== '' && { sha256: sha256.trim() }),
    }
    const started = call<NamedModel>('/named-models', { method: 'POST', body })
    onStarted()
    const model = await started
    say(`${model.name} is there.`)
    onPulled(model)
  })
  const free = on.free_bytes === null ? '' : ` ${bytes(on.free_bytes)} are free there.`
  return (
    <FormDialog
      title="Pull model"
      deed="Pull model"
      action={pull}
      onClose={onClose}
      going="Pulling"
    >
      <p class="hint">
        The server fetches it to <span class="mono">{on.folder}</span>, and loads it once to check
        it.{free}
      </p>
      <TextField
        label="Source"
        {...sourceField}
        hint="hf:owner/repository, hf:owner/repository:Q8_0, or the address of a GGUF file."
        error={tried ? mistake : undefined}
        input={{ class: 'mono', placeholder: 'hf:owner/repository', autofocus: true }}
      />
      <TextField
        label="Name"
        {...nameField}
        hint="The name that loads it. Default: from its file."
      />
      <TextField
        label="SHA-256"
        {...sha256Field}
        hint="If its publisher names one: nothing else is accepted then."
        input={{ class: 'mono' }}
      />
    </FormDialog>
  )
}
