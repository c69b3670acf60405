/**
 * Settings: every value and its origin, the server itself, and the password.
 *
 * @module
 */

import { bytes, counted, dateTime, duration } from '../format.js'
import { useNewPassword } from '../frame/new-password.js'
import { setQuery, usePlace } from '../navigation.js'
import { FormIn } from '../parts/dialog.js'
import { CheckField, SearchField, TextField, useSearch, useText } from '../parts/field.js'
import { Facts, PageHead } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { say } from '../parts/toast.js'
import { call, session } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { Server, Session, Setting, SettingsReport } from '../wire.js'

const origins: Readonly<Record<Setting['origin'], string>> = {
  default: 'default',
  file: 'settings file',
  environment: 'environment',
  flag: 'flag',
}

const columns: readonly Column<Setting>[] = [
  {
    name: 'Name',
    head: true,
    by: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <span class="row-name mono">{name}</span>
        <span class="sub faint">{description}</span>
      </>
    ),
  },
  {
    name: 'Value',
    cell: ({ value, origin }) => (
      <span class={origin === 'default' ? 'mono' : 'mono set'}>{shown(value)}</span>
    ),
  },
  {
    name: 'From',
    by: ({ origin }) => origin,
    cell: ({ origin }) =>
      origin === 'default' ? (
        <span class="faint">default</span>
      ) : (
        <span class="tag">{origins[origin]}</span>
      ),
  },
  {
    name: 'Default',
    cell: ({ default: value }) => <span class="mono faint">{shown(value)}</span>,
  },
  {
    name: 'Set with',
    cell: ({ flag, variable }) => (
      <span class="sub mono faint">
        <span>{flag}</span>
        <span>{variable}</span>
      </span>
    ),
  },
]

const shown = (value: Setting['value']): string => (value === '' ? '(nothing)' : String(value))

export function SettingsPage() {
  const settings = useLoad<SettingsReport>('/settings')
  const server = useLoad<Server>('/server')
  const fits = useSearch()
  const onlySet = usePlace().query.get('set') === '1'
  return (
    <>
      <PageHead
        title="Settings"
        about="The settings of the running server. Change them in the settings file, the environment or by flags."
      />
      <LoadedPart of={server}>
        {(data) => (
          <Facts
            of={[
              ['Version', `oi ${data.version}, Node.js ${data.node}`],
              [
                'Started',
                `${dateTime(data.started_at)} UTC (${duration(data.uptime_seconds)} ago)`,
              ],
              ['Transport', data.transport],
              ['Addresses', data.addresses.join(', ')],
              ['Console', data.admin === 'on' ? 'from anywhere' : 'from the server’s machine only'],
              ['Data folder', <span class="mono">{data.data_folder}</span>],
              [
                'Memory',
                `${bytes(data.memory.resident_bytes)} server, ` +
                  `${bytes(data.memory.models_resident_bytes)} models, ` +
                  `${bytes(data.memory.available_bytes)} available`,
              ],
              [
                'Accounts',
                `${bytes(data.accounts.file_bytes)}, ` +
                  `${counted(data.accounts.pending_bookings, 'booking')} pending`,
              ],
            ]}
          />
        )}
      </LoadedPart>
      <section aria-labelledby="values-title">
        <h2 id="values-title">Values</h2>
        <LoadedPart of={settings}>
          {({ settings: all }) => {
            const set = all.filter(({ origin }) => origin !== 'default')
            const fitting = (onlySet ? set : all).filter(({ name, description, flag, variable }) =>
              fits(`${name} ${description} ${flag} ${variable}`),
            )
            return (
              <>
                <div class="filters" role="search">
                  <SearchField placeholder="Name or words" />
                  <CheckField
                    label={`Only those set by hand (${set.length} of ${all.length})`}
                    checked={onlySet}
                    onChecked={(checked) => setQuery({ set: checked ? '1' : undefined })}
                  />
                </div>
                {fitting.length === 0 ? (
                  <Empty icon="settings" title="No setting fits" />
                ) : (
                  <Table
                    label="Settings"
                    columns={columns}
                    rows={fitting}
                    rowKey={({ name }) => name}
                    pageSize={200}
                  />
                )}
              </>
            )
          }}
        </LoadedPart>
      </section>
      <section class="card narrow" aria-labelledby="password-title">
        <h2 id="password-title">Password</h2>
        <PasswordForm />
      </section>
    </>
  )
}

function PasswordForm() {
  const [current, currentField, setCurrent] = useText()
  const { fields, take, clear } = useNewPassword(
    'Repeat the new password',
    ' All other sessions end.',
  )
  const change = useAction(async () => {
    if (current === '') return
    const next = take()
    if (next === undefined) return
    const body = { current, new: next }
    session.set(await call<Session>('/password', { method: 'PUT', body }))
    setCurrent('')
    clear()
    say('The password is changed.')
  })
  return (
    <FormIn action={change} deed="Change password" idle={current === ''}>
      <TextField
        label="Current password"
        {...currentField}
        input={{ type: 'password', autocomplete: 'current-password' }}
      />
      {fields}
    </FormIn>
  )
}
