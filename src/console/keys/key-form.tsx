/**
 * The form to create or change a key.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { date, dateTime } from '../format.js'
import { CheckField, SelectField, TextField, useText } from '../parts/field.js'
import { FormDialog } from '../parts/dialog.js'
import { call } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { Key, KeyChange, KeyWithSecret, Models, Workspace } from '../wire.js'

interface KeyFormProps {
  /** Undefined: a new key. */
  readonly of?: Key | undefined
  readonly workspaces: readonly Workspace[]
  readonly workspaceId?: number | undefined
  readonly onClose: () => void
  readonly onCreated: (key: KeyWithSecret) => void
  /** Called with a sentence when it is done. */
  readonly onChanged: (text: string) => void
}

const expiries = [
  { value: 'never', text: 'Never' },
  { value: '7', text: 'In 7 days' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
  { value: 'date', text: 'On a date…' },
]
const dayMs = 86_400_000

export function KeyForm(props: KeyFormProps) {
  const { of: key, workspaces, workspaceId, onClose, onCreated, onChanged } = props
  const [name, nameField] = useText(key?.name ?? '')
  const inUse = workspaces.filter(({ archived_at: at }) => at === null)
  const [workspace, workspaceField] = useText(String(workspaceId ?? inUse[0]?.id ?? ''))
  const kept = key?.expires_at ?? null
  const [expiry, expiryField] = useText(kept === null ? 'never' : 'kept')
  const [day, dayField] = useText(date(Date.now() + 30 * dayMs))
  const [models, setModels] = useState<readonly string[] | null>(key?.models ?? null)
  const [tried, setTried] = useState(false)
  const expiresAt = expiryOf(expiry, day, kept)
  const mistakes = {
    name: name.trim() === '' ? 'Say what the key is for.' : undefined,
    day: expiresAt === undefined ? 'A day in the future.' : undefined,
    models: models?.length === 0 ? 'Choose at least one, or allow all.' : undefined,
  }
  const save = useAction(async () => {
    setTried(true)
    if (Object.values(mistakes).some((mistake) => mistake !== undefined)) return
    const body: KeyChange = { name: name.trim(), models: models as Key['models'] }
    // Unchanged: an expiry in the past could not be set again.
    if (expiry !== 'kept') body.expires_at = expiresAt!
    if (key !== undefined) {
      await call(`/keys/${key.id}`, { method: 'PATCH', body })
      onChanged(`Key ${body.name} is saved.`)
      return
    }
    const made = { ...body, workspace_id: Number(workspace) }
    onCreated(await call<KeyWithSecret>('/keys', { method: 'POST', body: made }))
  })
  const options = [
    ...(kept === null ? [] : [{ value: 'kept', text: `${dateTime(kept)} UTC` }]),
    ...expiries,
  ]
  return (
    <FormDialog
      title={key === undefined ? 'Create key' : `Edit key ${key.name}`}
      deed={key === undefined ? 'Create key' : 'Save'}
      action={save}
      onClose={onClose}
    >
      <TextField
        label="Name"
        {...nameField}
        hint="The application that uses the key. It can be changed later."
        error={tried ? mistakes.name : undefined}
        input={{ maxLength: 100, autofocus: true }}
      />
      {key === undefined ? (
        <SelectField
          label="Workspace"
          {...workspaceField}
          options={inUse.map(({ id, name }) => ({ value: String(id), text: name }))}
          hint="Its limits, budget and balance hold for the key."
        />
      ) : (
        <p class="hint">
          In the workspace {key.workspace}, as {key.hint}.
        </p>
      )}
      <SelectField label="Expires" {...expiryField} options={options} />
      {expiry === 'date' && (
        <TextField
          label="Last day"
          unit="UTC"
          {...dayField}
          hint="The key is refused from the end of that day on."
          error={tried ? mistakes.day : undefined}
          input={{ type: 'date', min: date(Date.now()) }}
        />
      )}
      <ModelsField
        models={models}
        onModels={setModels}
        error={tried ? mistakes.models : undefined}
      />
    </FormDialog>
  )
}

/** @returns Undefined if the day is invalid or past. */
function expiryOf(expiry: string, day: string, kept: string | null): string | null | undefined {
  if (expiry === 'never') return null
  if (expiry === 'kept') return kept
  if (expiry !== 'date') return new Date(Date.now() + Number(expiry) * dayMs).toISOString()
  const end = Date.parse(`${day}T00:00:00Z`) + dayMs
  return end > Date.now() ? new Date(end).toISOString() : undefined
}

interface ModelsFieldProps {
  readonly models: readonly string[] | null
  readonly onModels: (models: readonly string[] | null) => void
  readonly error: string | undefined
}

/** The models that a key may use. Models that are not loaded stay in the list. */
function ModelsField({ models, onModels, error }: ModelsFieldProps) {
  const loaded = useLoad<Models>('/models')
  const [search, setSearch] = useState('')
  const known = loaded.data?.models.map(({ name }) => name) ?? []
  const names = [...new Set([...known, ...(models ?? [])])]
  const wanted = names.filter((name) => name.toLowerCase().includes(search.toLowerCase()))
  return (
    <fieldset class="field">
      <legend>Models</legend>
      <CheckField
        label="All, also those loaded later"
        checked={models === null}
        onChecked={(all) => onModels(all ? null : [])}
      />
      {models !== null && (
        <>
          {names.length > 8 && (
            <input
              type="search"
              aria-label="Search models"
              placeholder={`Search ${names.length} models`}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          <div class="check-list">
            {wanted.map((name) => (
              <CheckField
                key={name}
                label={name}
                checked={models.includes(name)}
                onChecked={(checked) =>
                  onModels(checked ? [...models, name] : models.filter((other) => other !== name))
                }
              />
            ))}
          </div>
          <p class="hint">{models.length} chosen.</p>
        </>
      )}
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}
