/**
 * The settings of a request: the model, the orders, and the workspace that it counts to.
 *
 * @module
 */

import { optionsOf, SelectField } from '../parts/field.js'
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
          options={optionsOf('Default', models?.models)}
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
          options={optionsOf(
            'No workspace',
            workspaces?.workspaces.filter(({ archived_at: at }) => at === null),
          )}
          onValue={onWorkspace}
        />
      </div>
    </section>
  )
}
