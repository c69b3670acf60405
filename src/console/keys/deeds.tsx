/**
 * Dialogs of a key: to rotate, block and revoke it, and a new key's secret, which is shown only once.
 *
 * @module
 */

import { Button } from '../parts/button.js'
import { Dialog, FormDialog } from '../parts/dialog.js'
import { SelectField, useText } from '../parts/field.js'
import { CopyButton } from '../parts/small.js'
import { call } from '../server.js'
import { useAction } from '../use-load.js'
import type { Key, KeyWithSecret } from '../wire.js'

interface DeedProps {
  readonly of: Key
  readonly onClose: () => void
  readonly onDone: (text: string) => void
}

type RotateProps = Omit<DeedProps, 'onDone'> & {
  readonly onRotated: (key: KeyWithSecret) => void
}

const overlaps = [
  { value: '0', text: 'Not at all: it stops at once' },
  { value: '3600', text: '1 hour' },
  { value: '86400', text: '1 day' },
  { value: '604800', text: '7 days' },
  { value: '2592000', text: '30 days' },
]

export function RotateDialog({ of: key, onClose, onRotated }: RotateProps) {
  const [overlap, overlapField] = useText('86400')
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
      <SelectField label="The old key works on for" {...overlapField} options={overlaps} />
    </FormDialog>
  )
}

export function BlockDialog({ of: key, onClose, onDone }: DeedProps) {
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

export function RevokeDialog({ of: key, onClose, onDone }: DeedProps) {
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

interface SecretDialogProps {
  readonly of: KeyWithSecret
  readonly rotated: boolean
  readonly onClose: () => void
}

export function SecretDialog({ of: key, rotated, onClose }: SecretDialogProps) {
  const command = `curl -H "Authorization: Bearer ${key.secret}" ${location.origin}/v1/models`
  return (
    <Dialog title={rotated ? `New key for ${key.name}` : `Key ${key.name}`} onClose={onClose} stays>
      <p>
        <strong>Copy it now: it is not shown again.</strong> The server keeps a hash of it only.
      </p>
      <div class="secret">
        <input
          readOnly
          class="mono"
          aria-label="API key"
          value={key.secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={key.secret} label="Copy key" />
      </div>
      <p class="hint">Try it:</p>
      <div class="code-box">
        <pre role="region" tabIndex={0} aria-label="Command">
          {command}
        </pre>
        <CopyButton text={command} label="Copy command" />
      </div>
      <div class="row dialog-foot">
        <Button kind="main" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  )
}
