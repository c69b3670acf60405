/**
 * The settings of a request: the model, the orders, and the workspace that it counts to.
 *
 * @module
 */

import { SelectField } from '../parts/field.js'
import type { Models, Workspaces } from '../wire.js'
import { ordersOptions } from './run.js'

interface RequestSettingsProps {
  readonly model: string
  readonly orders: string
  readonly workspace: string
  readonly models: Models | undefined
  readonly workspaces: Workspaces | undefined
  readonly onModel: (model: string) => void
  readonly onOrders: (orders: string) => void
  readonly onWorkspace: (workspace: string) => void
}

export function RequestSettings(props: RequestSettingsProps) {
  const { model, orders, workspace, models, workspaces } = props
  const { onModel, onOrders, onWorkspace } = props
  return (
    <section class="part" aria-label="Settings of the request">
      <div class="trio">
        <SelectField
          label="Model"
          value={model}
          options={[
            { value: '', text: 'Default' },
            ...(models?.models ?? []).map(({ name }) => ({ value: name, text: name })),
          ]}
          onValue={onModel}
        />
        <SelectField
          label="Orders of the options"
          value={orders}
          options={ordersOptions}
          onValue={onOrders}
        />
        <SelectField
          label="Counts to"
          value={workspace}
          options={[
            { value: '', text: 'No workspace' },
            ...(workspaces?.workspaces ?? [])
              .filter(({ archived_at: at }) => at === null)
              .map(({ id, name }) => ({ value: String(id), text: name })),
          ]}
          onValue={onWorkspace}
        />
      </div>
    </section>
  )
}
