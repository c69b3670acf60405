/**
 * The form to give credits, take them back, or lift the limit.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { credits, readCredits } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog, FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Workspace } from '../wire.js'
import type { PartProps } from './workspace-page.js'

export function CreditForm({ of: workspace, onChanged }: PartProps) {
  const { balance } = workspace
  const [text, setText] = useState('')
  const [tried, setTried] = useState(false)
  const [lifting, setLifting] = useState(false)
  const amount = readCredits(text)
  const mistake =
    amount === undefined || amount === 0
      ? 'An amount as 10, 12.5 or -3, below a billion, with at most 6 decimals.'
      : undefined
  const path = `/workspaces/${workspace.id}/credit`
  const give = useAction(async () => {
    setTried(true)
    if (mistake !== undefined) return
    onChanged(await call<Workspace>(path, { method: 'POST', body: { amount } }))
    say(amount! < 0 ? 'The credits are taken back.' : 'The credits are given.')
    setText('')
    setTried(false)
  })
  const lift = useAction(async () => {
    const next = await call<Workspace>(path, { method: 'POST', body: { unlimited: true } })
    setLifting(false)
    onChanged(next)
    say('The limit is lifted.')
  })
  const begin = 'From then on, answers are paid from this balance.'
  const hint =
    amount !== undefined && amount !== 0
      ? `Then ${credits((balance ?? 0) + amount)} credits are left. ${balance === null ? begin : ''}`
      : 'Below 0 takes credits back.'
  return (
    <>
      <FormIn action={give}>
        <TextField
          label="Credit"
          unit="credits"
          value={text}
          onValue={setText}
          error={tried ? mistake : undefined}
          hint={hint}
          input={{ inputMode: 'decimal', placeholder: '10' }}
        />
        <div class="form-foot">
          {balance !== null && <Button onClick={() => setLifting(true)}>Lift the limit…</Button>}
          <Button busy={give.busy}>
            {amount !== undefined && amount < 0 ? 'Take back' : 'Give credits'}
          </Button>
        </div>
      </FormIn>
      {lifting && (
        <FormDialog
          title={`Lift the limit of ${workspace.name}`}
          deed="Lift the limit"
          action={lift}
          onClose={() => setLifting(false)}
        >
          <p>
            Its answers are no longer paid from a balance. The rest of it, {credits(balance!)}{' '}
            credits, is gone.
          </p>
        </FormDialog>
      )}
    </>
  )
}
