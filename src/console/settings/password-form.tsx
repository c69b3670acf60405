/**
 * The form to change the administrator's password.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { useNewPassword } from '../frame/new-password.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { say } from '../parts/toast.js'
import { call, session } from '../server.js'
import { useAction } from '../use-load.js'
import type { Session } from '../wire.js'

export function PasswordForm() {
  const [current, setCurrent] = useState('')
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
        value={current}
        onValue={setCurrent}
        input={{ type: 'password', autocomplete: 'current-password' }}
      />
      {fields}
    </FormIn>
  )
}
