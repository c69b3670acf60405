/**
 * The number of option orders in which a question is asked: its form in the header, the flag and
 * the setting.
 *
 * @module
 */

import { OiError } from '../errors.js'

/** As given; forward and reversed; every rotation. */
export const allOrders = [1, 2, 'all'] as const

export type Orders = (typeof allOrders)[number]

/** A setting's value: `auto` leaves the choice to the model. */
type OrdersSetting = Orders | 'auto'

/** @returns Undefined for `auto`. */
export function ordersOf(setting: OrdersSetting): Orders | undefined {
  return setting === 'auto' ? undefined : setting
}

/** The expected values, for messages. */
export const expectedOrders = '1, 2 or all'

/** @returns The value of `1`, `2` or `all`; undefined for any other text. */
export function ordersFromText(text: string): Orders | undefined {
  return allOrders.find((orders) => String(orders) === text)
}

/**
 * Checks an option that no compiler has checked.
 *
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` unless it is one of {@link allOrders} or undefined.
 */
export function requireOrders(orders: Orders | undefined): void {
  if (orders === undefined || allOrders.includes(orders)) return
  const got = JSON.stringify(orders)
  throw new OiError('ERR_INVALID_ARGUMENT', `orders: expected ${expectedOrders}, got ${got}`)
}
