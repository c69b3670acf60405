/**
 * The editor of a comparison's columns: model, orders and temperature.
 *
 * @module
 */

import { Button, RemoveButton } from '../parts/button.js'
import { optionsOf, SelectField, TextField } from '../parts/field.js'
import { ordersOptions } from '../playground/run.js'
import { type CompareColumn, isComplete } from './columns.js'

interface ColumnEditorProps {
  readonly columns: readonly CompareColumn[]
  readonly models: readonly { readonly name: string }[] | undefined
  readonly onColumns: (columns: readonly CompareColumn[]) => void
}

export const mostColumns = 6

export function ColumnEditor({ columns, models, onColumns }: ColumnEditorProps) {
  const set = (id: number, change: Partial<CompareColumn>) =>
    onColumns(columns.map((column) => (column.id === id ? { ...column, ...change } : column)))
  const add = () => {
    const id = Math.max(0, ...columns.map(({ id }) => id)) + 1
    onColumns([...columns, { ...columns.at(-1)!, id }])
  }
  return (
    <section class="part" aria-labelledby="columns-title">
      <header class="part-head">
        <h2 id="columns-title">Columns</h2>
        <Button small icon="plus" disabled={columns.length >= mostColumns} onClick={add}>
          Add column
        </Button>
      </header>
      {columns.map((column, i) => (
        <fieldset key={column.id} class="column-row">
          <legend class="visually-hidden">Column {i + 1}</legend>
          <span class="column-number" aria-hidden="true">
            {i + 1}
          </span>
          <SelectField
            label="Model"
            value={column.model}
            options={optionsOf('Default', models)}
            onValue={(model) => set(column.id, { model })}
          />
          <SelectField
            label="Orders"
            value={column.orders}
            options={ordersOptions}
            onValue={(orders) => set(column.id, { orders })}
          />
          <TextField
            label="Temperature"
            value={column.temperature}
            onValue={(temperature) => set(column.id, { temperature })}
            error={isComplete(column) ? undefined : 'Above 0, at most 100.'}
            input={{ inputMode: 'decimal', placeholder: 'the model’s' }}
          />
          <RemoveButton
            label={`Remove column ${i + 1}`}
            disabled={columns.length === 1}
            onClick={() => onColumns(columns.filter(({ id }) => id !== column.id))}
          />
        </fieldset>
      ))}
      <p class="hint">
        The others are compared with column 1. Temperatures are computed here, from the logits of
        the same answer.
      </p>
    </section>
  )
}
