/**
 * The form for a workspace's budget of tokens per day, week or month.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { count } from '../format.js'
import { Button } from '../parts/button.js'
import { FormIn } from '../parts/dialog.js'
import { SelectField, TextField } from '../parts/field.js'
import { ErrorNote } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Budget, Workspace } from '../wire.js'
import { readWhole } from './read-whole.js'
import type { PartProps } from './workspace-page.js'

/** The limit of the accounts. */
const mostTokens = 1e15

const periods = [
  { value: 'day', text: 'Each day (from 00:00 UTC)' },
  { value: 'week', text: 'Each week (from Monday, 00:00 UTC)' },
  { value: 'month', text: 'Each month (from the 1st, 00:00 UTC)' },
]

export function BudgetForm({ of: workspace, onChanged }: PartProps) {
  const { budget } = workspace
  const [tokens, setTokens] = useState(budget === null ? '' : count(budget.tokens))
  const [period, setPeriod] = useState<Budget['period']>(budget?.period ?? 'month')
  const [tried, setTried] = useState(false)
  const read = readWhole(tokens)
  const fits = read !== undefined && read > 0 && read <= mostTokens
  const mistake = fits ? undefined : `A whole number from 1 to ${count(mostTokens)}, as 5M.`
  const change = async (budget: { tokens: number; period: Budget['period'] } | null) => {
    const path = `/workspaces/${workspace.id}`
    onChanged(await call<Workspace>(path, { method: 'PATCH', body: { budget } }))
  }
  const save = useAction(async () => {
    setTried(true)
    if (mistake !== undefined || same) return
    await change({ tokens: read!, period })
    say('The budget is set.')
  })
  const remove = useAction(async () => {
    await change(null)
    say('The budget is removed.')
    setTokens('')
    setTried(false)
  })
  const same = budget !== null && read === budget.tokens && period === budget.period
  return (
    <FormIn action={save}>
      <TextField
        label="Tokens"
        unit="input and output"
        value={tokens}
        onValue={setTokens}
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
      <div class="form-foot">
        {budget !== null && <Button action={remove}>Remove budget</Button>}
        <Button busy={save.busy || same}>{budget === null ? 'Set budget' : 'Save budget'}</Button>
      </div>
      <ErrorNote error={remove.error} />
    </FormIn>
  )
}
