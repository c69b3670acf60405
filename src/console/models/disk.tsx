/**
 * The models on the server's disk that can be loaded by name.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { bytes } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { Status, Time } from '../parts/small.js'
import { type Column, numbers, Table } from '../parts/table.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { NamedModel, NamedModels } from '../wire.js'

interface DiskProps {
  readonly of: NamedModels
  readonly onLoad: (name: string) => void
  readonly onChanged: () => void
}

export function Disk({ of: { models, folder }, onLoad, onChanged }: DiskProps) {
  const [doomed, setDoomed] = useState<NamedModel | undefined>()
  const close = () => setDoomed(undefined)
  const remove = useAction(async () => {
    const { name } = doomed!
    await call(`/named-models/${encodeURIComponent(name)}`, { method: 'DELETE' })
    say(`${name} is removed.`)
    close()
    onChanged()
  })
  return (
    <section aria-labelledby="disk-title">
      <h2 id="disk-title">On the disk</h2>
      <p class="about">
        Pulled models are in <span class="mono">{folder}</span>.
      </p>
      <Table
        label="Models on the disk"
        columns={columnsFor(onLoad, setDoomed)}
        rows={models}
        rowKey={({ name, state }) => `${state} ${name}`}
      />
      {doomed !== undefined && (
        <FormDialog
          title={`Remove ${doomed.name}`}
          deed="Remove model"
          danger
          action={remove}
          onClose={close}
        >
          <p>{bytes(doomed.bytes)} are deleted from the disk. It can be pulled again.</p>
        </FormDialog>
      )}
    </section>
  )
}

const columnsFor = (
  onLoad: DiskProps['onLoad'],
  onRemove: (model: NamedModel) => void,
): readonly Column<NamedModel>[] => [
  { name: 'Name', head: true, by: ({ name }) => name, cell: ({ name }) => name },
  {
    name: 'State',
    by: ({ loaded, state }) => (loaded ? '' : state),
    cell: ({ loaded, state }) =>
      state === 'unfinished' ? (
        <Status tone="warn">Not whole</Status>
      ) : loaded ? (
        <Status tone="good">Loaded</Status>
      ) : (
        <Status tone="idle">Not loaded</Status>
      ),
  },
  numbers('Size', (model) => model.bytes, bytes),
  {
    name: 'Quantization',
    cell: ({ quantization }) => quantization || <span class="faint">–</span>,
  },
  {
    name: 'Source',
    cell: ({ source, state }) =>
      state === 'packaged' ? 'this package' : source || <span class="faint">–</span>,
  },
  { name: 'Pulled', cell: ({ pulled_at: at }) => <Time at={at} none="–" /> },
  {
    name: 'Actions',
    silent: true,
    end: true,
    cell: (model) => (
      <span class="row-deeds">
        {model.state !== 'unfinished' && !model.loaded && (
          <Button onClick={() => onLoad(model.name)}>
            Load…<span class="visually-hidden"> {model.name}</span>
          </Button>
        )}
        {model.state !== 'packaged' && !model.loaded && (
          <Button onClick={() => onRemove(model)}>
            Remove…<span class="visually-hidden"> {model.name}</span>
          </Button>
        )}
      </span>
    ),
  },
]
