/**
 * The form for a workspace's limits of requests.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { count } from '../format.js'
import { Button } from '../parts/button.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Workspace } from '../wire.js'
import { readWhole } from './read-whole.js'
import type { PartProps } from './workspace-page.js'

export function LimitsForm({ of: workspace, onChanged }: PartProps) {
  const { limits } = workspace
  const [perMinute, setPerMinute] = useState(show(limits.requests_per_minute))
  const [concurrent, setConcurrent] = useState(show(limits.concurrent))
  const read = {
    requests_per_minute: perMinute.trim() === '' ? 0 : readWhole(perMinute),
    concurrent: concurrent.trim() === '' ? 0 : readWhole(concurrent),
  }
  const wrong = 'A whole number, or empty for no limit.'
  const save = useAction(async () => {
    if (same || read.requests_per_minute === undefined || read.concurrent === undefined) return
    const path = `/workspaces/${workspace.id}`
    onChanged(await call<Workspace>(path, { method: 'PATCH', body: { limits: read } }))
    say('The limits are saved.')
  })
  const same =
    read.requests_per_minute === limits.requests_per_minute && read.concurrent === limits.concurrent
  return (
    <FormIn action={save}>
      <TextField
        label="Requests"
        unit="in any 60 seconds"
        value={perMinute}
        onValue={setPerMinute}
        error={read.requests_per_minute === undefined ? wrong : undefined}
        input={{ inputMode: 'numeric', placeholder: 'no limit' }}
      />
      <TextField
        label="Concurrent requests"
        unit="at the same time"
        value={concurrent}
        onValue={setConcurrent}
        error={read.concurrent === undefined ? wrong : undefined}
        hint="Empty: no limit. For all keys of the workspace together."
        input={{ inputMode: 'numeric', placeholder: 'no limit' }}
      />
      <div class="form-foot">
        <Button busy={save.busy || same}>Save limits</Button>
      </div>
    </FormIn>
  )
}

const show = (limit: number): string => (limit === 0 ? '' : count(limit))
