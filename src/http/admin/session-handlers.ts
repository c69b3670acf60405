/**
 * Signing in and out.
 *
 * @module
 */

import { type Session, sessionIdleMs } from '../../accounts/admin-access.js'
import { checkNewPassword, hashPassword, isPassword } from '../../accounts/password.js'
import { OiError } from '../../errors.js'
import { counted } from '../../api/words.js'
import type { ReplyOf } from '../../api/admin/operations.js'
import type { AdminHandlerId, AdminHandlers, AdminServices, Call } from './call.js'
import { patiently } from './patiently.js'
import { timeText } from './present.js'

type Ids = 'signIn' | 'firstSignIn' | 'getSession' | 'signOut' | 'changePassword'
type Caller = Pick<Call<AdminHandlerId>, 'keep' | 'session' | 'administration'>

const administrator = { target: 'administrator', name: '' }

export function sessionHandlers({ accounts, throttle }: AdminServices): AdminHandlers<Ids> {
  const { admin } = accounts

  /** @throws {@link OiError} `ERR_ATTEMPTS` if this address has to wait. */
  const beginTry = (address: string) => {
    const retryAfterMs = throttle.begin(address)
    if (retryAfterMs === 0) return
    const seconds = Math.ceil(retryAfterMs / 1000)
    const message = `Too many wrong passwords: try again in ${counted(seconds, 'second')}`
    throw new OiError('ERR_ATTEMPTS', message, { retryAfterMs })
  }

  /** With a new secret, as the old one may be known to others. */
  const begin = (call: Caller, action: string) =>
    patiently(() => {
      if (call.session !== undefined) admin.endSession(call.session.secret)
      const session = admin.beginSession()
      call.administration.record({ action, ...administrator })
      call.keep(session.secret)
      return sessionReply(session)
    })

  return {
    signIn: async (call) => {
      const stored = admin.passwordHash()
      if (stored === undefined) {
        const remedy = 'open the link of the first start, or run oi admin password on the machine'
        throw new OiError('ERR_PASSWORD', `There is no password yet: ${remedy}`)
      }
      beginTry(call.origin.address)
      if (!(await isPassword(call.body.password, stored))) {
        throttle.fail(call.origin.address)
        throw new OiError('ERR_PASSWORD', 'The password is wrong')
      }
      throttle.succeed(call.origin.address)
      return begin(call, 'session.begin')
    },
    firstSignIn: async (call) => {
      const { token, password } = call.body
      beginTry(call.origin.address)
      checkNewPassword(password)
      if (!admin.isLink(token)) throw linkError()
      const hash = await hashPassword(password)
      // If two requests use the same link, the second is too late.
      if (!(await patiently(() => admin.setFirstPassword(token, hash)))) throw linkError()
      throttle.succeed(call.origin.address)
      return begin(call, 'password.first')
    },
    getSession: ({ session }) => sessionReply(session!),
    signOut: (call) => {
      admin.endSession(call.session!.secret)
      call.keep(undefined)
      return undefined
    },
    changePassword: async (call) => {
      const { current, new: next } = call.body
      beginTry(call.origin.address)
      checkNewPassword(next)
      if (!(await isPassword(current, admin.passwordHash()))) {
        throttle.fail(call.origin.address)
        throw new OiError('ERR_PASSWORD', 'The current password is wrong', { param: 'current' })
      }
      throttle.succeed(call.origin.address)
      const hash = await hashPassword(next)
      await patiently(() => admin.setPassword(hash))
      return begin(call, 'password.change')
    },
  }
}

function sessionReply({ csrfToken, expiresMs }: Session): ReplyOf<'signIn'> {
  return {
    csrf_token: csrfToken,
    expires_at: timeText(expiresMs),
    idle_timeout_seconds: sessionIdleMs / 1000,
  }
}

function linkError(): OiError {
  const remedy = 'oi admin password on the machine sets a password'
  return new OiError('ERR_PASSWORD', `The link is wrong or has expired: ${remedy}`)
}
