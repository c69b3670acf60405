/**
 * The form to rename a workspace.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Workspace } from '../wire.js'
import type { PartProps } from './workspace-page.js'

export function NameForm({ of: workspace, onChanged }: PartProps) {
  const [name, setName] = useState(workspace.name)
  const rename = useAction(async () => {
    if (same || name.trim() === '') return
    const body = { name: name.trim() }
    const path = `/workspaces/${workspace.id}`
    onChanged(await call<Workspace>(path, { method: 'PATCH', body }))
    say(`The workspace is now named ${body.name}.`)
  })
  const same = name.trim() === workspace.name
  return (
    <FormIn action={rename}>
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        hint="Keys, usage and ledger stay with it."
        input={{ maxLength: 100 }}
      />
      <div class="form-foot">
        <Button busy={rename.busy || same || name.trim() === ''}>Rename</Button>
      </div>
    </FormIn>
  )
}
