/**
 * API keys: every key of every workspace, and all actions on keys.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { usePlace, setQuery } from '../navigation.js'
import { Button } from '../parts/button.js'
import { optionsOf, SearchField, SelectField, useSearch } from '../parts/field.js'
import { PageHead } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { useLoad } from '../use-load.js'
import type { Key, Keys, KeyWithSecret, Workspaces } from '../wire.js'
import { BlockDialog, RevokeDialog, RotateDialog, SecretDialog } from './deeds.js'
import { KeyForm } from './key-form.js'
import { KeyTable } from './key-table.js'

/** The dialog that is open in front of the list. */
export type Open =
  | { readonly what: 'create'; readonly key?: undefined }
  | { readonly what: 'edit' | 'rotate' | 'block' | 'revoke'; readonly key: Key }
  | { readonly what: 'secret'; readonly key: KeyWithSecret; readonly rotated: boolean }

const states = [
  { value: 'usable', text: 'Not revoked' },
  { value: 'active', text: 'Active' },
  { value: 'blocked', text: 'Blocked' },
  { value: 'expired', text: 'Expired' },
  { value: 'revoked', text: 'Revoked' },
  { value: 'all', text: 'All' },
]

export function KeysPage() {
  const keys = useLoad<Keys>('/keys')
  const workspaces = useLoad<Workspaces>('/workspaces')
  const [open, setOpen] = useState<Open | undefined>()
  const { query } = usePlace()
  const isFound = useSearch()
  const workspace = query.get('workspace') ?? ''
  const state = query.get('state') ?? 'usable'
  const close = () => setOpen(undefined)
  const changed = () => {
    keys.reload()
    workspaces.reload()
  }
  const done = (text: string) => {
    changed()
    close()
    say(text)
  }
  const showSecret = (key: KeyWithSecret, rotated: boolean) => {
    changed()
    setOpen({ what: 'secret', key, rotated })
  }
  const list = workspaces.data?.workspaces ?? []
  return (
    <>
      <PageHead
        title="API keys"
        about="One for each application. All keys of a workspace share its limits, budget and balance."
      >
        <Button
          kind="main"
          icon="plus"
          disabled={list.length === 0}
          onClick={() => setOpen({ what: 'create' })}
        >
          Create key
        </Button>
      </PageHead>
      <LoadedPart of={keys}>
        {({ keys: all }) => {
          if (all.length === 0) return <NoKeys noWorkspace={list.length === 0} />
          const shown = all
            .filter((key) => isFound(`${key.name} ${key.hint}`) && fits(key, workspace, state))
            .sort((a, b) => b.id - a.id)
          return (
            <>
              <div class="filters" role="search">
                <SearchField placeholder="Name or last letters" />
                <SelectField
                  label="Workspace"
                  value={workspace}
                  options={optionsOf('All', list)}
                  onValue={(workspace) => setQuery({ workspace })}
                />
                <SelectField
                  label="State"
                  value={state}
                  options={states}
                  onValue={(state) => setQuery({ state: state === 'usable' ? '' : state })}
                />
              </div>
              {shown.length === 0 ? (
                <Empty icon="key" title="No key fits">
                  <Button onClick={() => setQuery({ search: '', workspace: '', state: 'all' })}>
                    Show all {all.length}
                  </Button>
                </Empty>
              ) : (
                <KeyTable keys={shown} workspaces={list} onOpen={setOpen} />
              )}
            </>
          )
        }}
      </LoadedPart>
      {(open?.what === 'create' || open?.what === 'edit') && (
        <KeyForm
          of={open.key}
          workspaceId={Number(workspace) || undefined}
          workspaces={list}
          onClose={close}
          onCreated={(key) => showSecret(key, false)}
          onChanged={done}
        />
      )}
      {open?.what === 'rotate' && (
        <RotateDialog of={open.key} onClose={close} onRotated={(key) => showSecret(key, true)} />
      )}
      {open?.what === 'block' && <BlockDialog of={open.key} onClose={close} onDone={done} />}
      {open?.what === 'revoke' && <RevokeDialog of={open.key} onClose={close} onDone={done} />}
      {open?.what === 'secret' && (
        <SecretDialog of={open.key} rotated={open.rotated} onClose={close} />
      )}
    </>
  )
}

function NoKeys({ noWorkspace }: { readonly noWorkspace: boolean }) {
  return (
    <Empty icon="key" title="There are no keys yet">
      <p>An application sends its key with every request. Create one for each application.</p>
      {noWorkspace && (
        <p>
          A key belongs to a workspace: <a href="#/workspaces">create that first</a>.
        </p>
      )}
    </Empty>
  )
}

function fits(key: Key, workspace: string, state: string): boolean {
  if (workspace !== '' && String(key.workspace_id) !== workspace) return false
  return state === 'usable' ? key.state !== 'revoked' : state === 'all' || key.state === state
}
