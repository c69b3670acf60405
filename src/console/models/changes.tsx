/**
 * The changes of models that run now.
 *
 * @module
 */

import { Button } from '../parts/button.js'
import { ErrorNote } from '../parts/states.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Models } from '../wire.js'

type Change = Models['under_way'][number]

export function Changes({ of: changes }: { readonly of: readonly Change[] }) {
  return (
    <>
      {changes.map((change) => (
        <Running key={`${change.action} ${change.target}`} of={change} />
      ))}
    </>
  )
}

function Running({ of: { action, target, progress } }: { readonly of: Change }) {
  const stop = useAction(() => call(`/pulls/${encodeURIComponent(target)}`, { method: 'DELETE' }))
  return (
    <div>
      <p class="note" role="status">
        <span class="spinner" aria-hidden="true" />
        <span>
          {deeds[action]} <span class="mono">{target}</span>: {progress}
        </span>
        {action === 'model.pull' && (
          <Button action={stop}>
            Stop<span class="visually-hidden"> pulling {target}</span>
          </Button>
        )}
      </p>
      <ErrorNote error={stop.error} />
    </div>
  )
}

const deeds: Readonly<Record<Change['action'], string>> = {
  'model.load': 'Loading',
  'model.reload': 'Reloading',
  'model.unload': 'Unloading',
  'model.pull': 'Pulling',
}
