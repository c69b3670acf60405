/**
 * Signing in and out.
 *
 * @module
 */

import { type Session, sessionIdleMs } from '../accounts/admin-access.js'
import { checkNewPassword, hashPassword, isPassword } from './password.js'
import { OiError } from '../errors.js'
import { counted } from '../api/words.js'
import type { ReplyOf } from '../api/admin/operations.js'
import type { AdminHandlerId, AdminHandlers, AdminServices, Call } from './call.js'
import { patiently } from '../accounts/patiently.js'
import { timeText } from './present.js'

type Ids = 'signIn' | 'firstSignIn' | 'getSession' | 'signOut' | 'changePassword'
type Caller = Pick<Call<AdminHandlerId>, 'keep' | 'session' | 'administration' | 'browser'>
type Tried = Pick<Call<AdminHandlerId>, 'origin' | 'browser'>

const administrator = { target: 'administrator', name: '' }

export function sessionHandlers({ accounts, throttle }: AdminServices): AdminHandlers<Ids> {
  const { admin } = accounts

  /** @returns Who tries. @throws {@link OiError} `ERR_ATTEMPTS` if they have to wait. */
  const beginTry = ({ origin, browser }: Tried) => {
    const who = throttle.whoIs(origin.address, browser)
    const retryAfterMs = throttle.begin(who)
    if (retryAfterMs === 0) return who
    const seconds = Math.ceil(retryAfterMs / 1000)
    const message = `Too many wrong passwords: try again in ${counted(seconds, 'second')}`
    throw new OiError('ERR_ATTEMPTS', message, { retryAfterMs })
  }

  /** Notes a wrong password; as often as the throttle lets one be tried. */
  const failTry = async (who: string, call: Caller) => {
    throttle.fail(who)
    await patiently(() =>
      call.administration.record({ action: 'password.wrong', ...administrator }),
    )
  }

  /** With a new secret, as the old one may be known to others. */
  const begin = (call: Caller, action: string) =>
    patiently(() => {
      if (call.session !== undefined) admin.endSession(call.session.secret)
      const session = admin.beginSession()
      call.administration.record({ action, ...administrator })
      call.keep(session.secret, throttle.remember(call.browser))
      return sessionReply(session)
    })

  return {
    signIn: async (call) => {
      const stored = admin.passwordHash()
      if (stored === undefined) {
        const remedy = 'open the link of the first start, or run oi admin password on the machine'
        throw new OiError('ERR_PASSWORD', `There is no password yet: ${remedy}`)
      }
      const who = beginTry(call)
      if (!(await isPassword(call.body.password, stored))) {
        await failTry(who, call)
        throw new OiError('ERR_PASSWORD', 'The password is wrong')
      }
      throttle.succeed(who)
      return begin(call, 'session.begin')
    },
    firstSignIn: async (call) => {
      const { token, password } = call.body
      const who = beginTry(call)
      checkNewPassword(password)
      if (!admin.isLink(token)) throw linkError()
      const hash = await hashPassword(password)
      // If two requests use the same link, the second is too late.
      if (!(await patiently(() => admin.setFirstPassword(token, hash)))) throw linkError()
      throttle.succeed(who)
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
      const who = beginTry(call)
      checkNewPassword(next)
      if (!(await isPassword(current, admin.passwordHash()))) {
        await failTry(who, call)
        throw new OiError('ERR_PASSWORD', 'The current password is wrong', { param: 'current' })
      }
      throttle.succeed(who)
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
