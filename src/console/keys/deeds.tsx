/**
 * Actions on a key that need confirmation: rotate, block, revoke.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { FormDialog } from '../parts/dialog.js'
import { SelectField } from '../parts/field.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Key, KeyWithSecret } from '../wire.js'

interface DeedProps {
  readonly of: Key
  readonly onClose: () => void
}

const overlaps = [
  { value: '0', text: 'Not at all: it stops at once' },
  { value: '3600', text: '1 hour' },
  { value: '86400', text: '1 day' },
  { value: '604800', text: '7 days' },
  { value: '2592000', text: '30 days' },
]

export function RotateDialog({
  of: key,
  onClose,
  onRotated,
}: DeedProps & { readonly onRotated: (key: KeyWithSecret) => void }) {
  const [overlap, setOverlap] = useState('86400')
  const rotate = useAction(async () => {
    const body = { overlap_seconds: Number(overlap) }
    onRotated(await call<KeyWithSecret>(`/keys/${key.id}/rotate`, { method: 'POST', body }))
  })
  return (
    <FormDialog
      title={`Rotate key ${key.name}`}
      deed="Rotate key"
      action={rotate}
      onClose={onClose}
    >
      <p>
        A new key replaces <span class="mono">{key.hint}</span>, with the same name, workspace,
        expiry and models. Until the old key stops, both work.
      </p>
      <SelectField
        label="The old key works on for"
        value={overlap}
        options={overlaps}
        onValue={setOverlap}
      />
    </FormDialog>
  )
}

export function BlockDialog({
  of: key,
  onClose,
  onDone,
}: DeedProps & { readonly onDone: (text: string) => void }) {
  const blocked = !key.blocked
  const block = useAction(async () => {
    await call(`/keys/${key.id}`, { method: 'PATCH', body: { blocked } })
    onDone(`Key ${key.name} is ${blocked ? 'blocked' : 'active again'}.`)
  })
  const deed = blocked ? 'Block key' : 'Unblock key'
  return (
    <FormDialog title={`${deed} ${key.name}`} deed={deed} action={block} onClose={onClose}>
      <p>
        {blocked
          ? 'Requests with it are refused with status 401 until you unblock it.'
          : 'Requests with it are answered again.'}
      </p>
    </FormDialog>
  )
}

export function RevokeDialog({
  of: key,
  onClose,
  onDone,
}: DeedProps & { readonly onDone: (text: string) => void }) {
  const revoke = useAction(async () => {
    await call(`/keys/${key.id}`, { method: 'DELETE' })
    onDone(`Key ${key.name} is revoked.`)
  })
  return (
    <FormDialog
      title={`Revoke key ${key.name}`}
      deed="Revoke key"
      danger
      action={revoke}
      onClose={onClose}
    >
      <p>
        Requests with <span class="mono">{key.hint}</span> are refused from now on, for good. To
        stop it only for a while, block it.
      </p>
    </FormDialog>
  )
}
