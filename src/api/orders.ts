/**
 * In how many orders of its options a question is asked: as the header, the flag and the setting
 * have it.
 *
 * @module
 */

import { OiError } from '../errors.js'

/** As given; forward and reversed; every rotation. */
export const allOrders = [1, 2, 'all'] as const

export type Orders = (typeof allOrders)[number]

/** A setting's value: `auto` leaves the choice to the model. */
export type OrdersSetting = Orders | 'auto'

/** @returns Undefined for `auto`. */
export function ordersOf(setting: OrdersSetting): Orders | undefined {
  return setting === 'auto' ? undefined : setting
}

/** What messages say that is expected. */
export const expectedOrders = '1, 2 or all'

/** @returns What `1`, `2` or `all` means; undefined for any other text. */
export function ordersFromText(text: string): Orders | undefined {
  return allOrders.find((orders) => String(orders) === text)
}

/**
 * Checks an option of code that no compiler has checked.
 *
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` unless it is one of {@link allOrders} or undefined.
 */
export function requireOrders(orders: Orders | undefined): void {
  if (orders === undefined || allOrders.includes(orders)) return
  const got = JSON.stringify(orders)
  throw new OiError('ERR_INVALID_ARGUMENT', `orders: expected ${expectedOrders}, got ${got}`)
}
