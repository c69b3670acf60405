/**
 * The forms of a workspace: its name, its limits, its budget and its credits, and its end.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { count, counted, credits, readCredits, readWhole } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog, FormIn } from '../parts/dialog.js'
import { SelectField, TextField, useText } from '../parts/field.js'
import { ErrorNote } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Budget, Workspace, WorkspaceChange } from '../wire.js'

interface PartProps {
  readonly of: Workspace
  /** Called with the changed workspace. */
  readonly onChanged: (workspace: Workspace) => void
}

const change = ({ id }: Workspace, body: WorkspaceChange) =>
  call<Workspace>(`/workspaces/${id}`, { method: 'PATCH', body })

export function NameForm({ of: workspace, onChanged }: PartProps) {
  const [name, nameField] = useText(workspace.name)
  const rename = useAction(async () => {
    if (same || name.trim() === '') return
    const body = { name: name.trim() }
    onChanged(await change(workspace, body))
    say(`The workspace is now named ${body.name}.`)
  })
  const same = name.trim() === workspace.name
  return (
    <FormIn action={rename} deed="Rename" idle={same || name.trim() === ''}>
      <TextField
        label="Name"
        {...nameField}
        hint="Keys, usage and ledger stay with it."
        input={{ maxLength: 100 }}
      />
    </FormIn>
  )
}

export function LimitsForm({ of: workspace, onChanged }: PartProps) {
  const { limits } = workspace
  const [perMinute, perMinuteField] = useText(show(limits.requests_per_minute))
  const [concurrent, concurrentField] = useText(show(limits.concurrent))
  const most = perMinute.trim() === '' ? 0 : readWhole(perMinute)
  const atOnce = concurrent.trim() === '' ? 0 : readWhole(concurrent)
  const wrong = 'A whole number, or empty for no limit.'
  const save = useAction(async () => {
    if (same || most === undefined || atOnce === undefined) return
    const body = { limits: { requests_per_minute: most, concurrent: atOnce } }
    onChanged(await change(workspace, body))
    say('The limits are saved.')
  })
  const same = most === limits.requests_per_minute && atOnce === limits.concurrent
  return (
    <FormIn action={save} deed="Save limits" idle={same}>
      <TextField
        label="Requests"
        unit="in any 60 seconds"
        {...perMinuteField}
        error={most === undefined ? wrong : undefined}
        input={{ inputMode: 'numeric', placeholder: 'no limit' }}
      />
      <TextField
        label="Concurrent requests"
        unit="at the same time"
        {...concurrentField}
        error={atOnce === undefined ? wrong : undefined}
        hint="Empty: no limit. For all keys of the workspace together."
        input={{ inputMode: 'numeric', placeholder: 'no limit' }}
      />
    </FormIn>
  )
}

const show = (limit: number): string => (limit === 0 ? '' : count(limit))

/** The limit of the accounts. */
const mostTokens = 1e15

const periods = [
  { value: 'day', text: 'Each day (from 00:00 UTC)' },
  { value: 'week', text: 'Each week (from Monday, 00:00 UTC)' },
  { value: 'month', text: 'Each month (from the 1st, 00:00 UTC)' },
]

export function BudgetForm({ of: workspace, onChanged }: PartProps) {
  const { budget } = workspace
  const [tokens, tokensField, setTokens] = useText(budget === null ? '' : count(budget.tokens))
  const [period, setPeriod] = useState<Budget['period']>(budget?.period ?? 'month')
  const [tried, setTried] = useState(false)
  const read = readWhole(tokens)
  const fits = read !== undefined && read > 0 && read <= mostTokens
  const mistake = fits ? undefined : `A whole number from 1 to ${count(mostTokens)}, as 5M.`
  const save = useAction(async () => {
    setTried(true)
    if (mistake !== undefined || same) return
    onChanged(await change(workspace, { budget: { tokens: read!, period } }))
    say('The budget is set.')
  })
  const remove = useAction(async () => {
    onChanged(await change(workspace, { budget: null }))
    say('The budget is removed.')
    setTokens('')
    setTried(false)
  })
  const same = budget !== null && read === budget.tokens && period === budget.period
  return (
    <FormIn
      action={save}
      deed={budget === null ? 'Set budget' : 'Save budget'}
      idle={same}
      beside={budget !== null && <Button action={remove}>Remove budget</Button>}
    >
      <TextField
        label="Tokens"
        unit="input and output"
        {...tokensField}
        error={tried ? mistake : undefined}
        hint="When they are used up, requests are refused until the period ends."
        input={{ inputMode: 'text', placeholder: 'no budget' }}
      />
      <SelectField
        label="Period"
        value={period}
        options={periods}
        onValue={(value) => setPeriod(value as Budget['period'])}
      />
      <ErrorNote error={remove.error} />
    </FormIn>
  )
}

/** Gives credits, takes them back, or lifts the limit. */
export function CreditForm({ of: workspace, onChanged }: PartProps) {
  const { balance } = workspace
  const [text, textField, setText] = useText()
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
      <FormIn
        action={give}
        deed={amount !== undefined && amount < 0 ? 'Take back' : 'Give credits'}
        beside={
          balance !== null && <Button onClick={() => setLifting(true)}>Lift the limit…</Button>
        }
      >
        <TextField
          label="Credit"
          unit="credits"
          {...textField}
          error={tried ? mistake : undefined}
          hint={hint}
          input={{ inputMode: 'decimal', placeholder: '10' }}
        />
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

/** Takes a workspace out of use, or into use again. */
export function Archive({ of: workspace, onChanged }: PartProps) {
  const [open, setOpen] = useState(false)
  const { name, archived_at: at } = workspace
  const isArchived = at !== null
  const archive = useAction(async () => {
    onChanged(await change(workspace, { archived: !isArchived }))
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
            Requests with its {counted(workspace.active_keys, 'active key')} are refused from the
            next one on. Its name, usage and ledger stay, and it can be taken into use again.
          </p>
        </FormDialog>
      )}
    </>
  )
}
