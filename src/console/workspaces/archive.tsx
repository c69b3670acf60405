/**
 * Takes a workspace out of use, or into use again.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { counted } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { ErrorNote } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Workspace } from '../wire.js'
import type { PartProps } from './forms.js'

export function Archive({ of: { id, name, active_keys: keys, ...of }, onChanged }: PartProps) {
  const [open, setOpen] = useState(false)
  const isArchived = of.archived_at !== null
  const archive = useAction(async () => {
    const body = { archived: !isArchived }
    onChanged(await call<Workspace>(`/workspaces/${id}`, { method: 'PATCH', body }))
    setOpen(false)
    say(`${name} is ${isArchived ? 'in use again' : 'archived'}.`)
  })
  return (
    <>
      {isArchived ? (
        <Button action={archive}>Use again</Button>
      ) : (
        <Button onClick={() => setOpen(true)}>Archive…</Button>
      )}
      {isArchived && <ErrorNote error={archive.error} />}
      {open && (
        <FormDialog
          title={`Archive ${name}`}
          deed="Archive workspace"
          danger
          action={archive}
          onClose={() => setOpen(false)}
        >
          <p>
            Requests with its {counted(keys, 'active key')} are refused from the next one on. Its
            name, usage and ledger stay, and it can be taken into use again.
          </p>
        </FormDialog>
      )}
    </>
  )
}
