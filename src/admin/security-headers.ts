/**
 * Security headers for browsers.
 *
 * @module
 */

const everywhere = [
  ...['x-content-type-options', 'nosniff'],
  ...['x-frame-options', 'DENY'],
  ...['referrer-policy', 'no-referrer'],
  ...['cross-origin-resource-policy', 'same-origin'],
]

/** For replies of the admin API: never rendered, cached or framed. */
export const apiHeaders: readonly string[] = [
  ...everywhere,
  ...['cache-control', 'no-store'],
  ...['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
]

/** For the console's files: only its own scripts and styles, and nothing from other hosts. */
export const pageHeaders: readonly string[] = [
  ...everywhere,
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  ...['cross-origin-opener-policy', 'same-origin'],
  'permissions-policy',
  'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
]
