/**
 * Icons, 16 by 16, drawn with the text's colour.
 *
 * @module
 */

const paths = {
  overview: 'M2 9.5h2.5L6 5l3 8 2-5.5 1 2h2',
  key: 'M10 2.5a3.5 3.5 0 1 0-2.9 5.5L2.5 12.6V14h2v-1.5H6V11h1.5l1.4-1.6A3.5 3.5 0 0 0 10 2.5Zm1 3.4h.01',
  play: 'M4.5 3v10l8-5z',
  stop: 'M4 4h8v8H4z',
  compare: 'M2.5 3h4v10h-4zM9.5 3h4v10h-4z',
  usage: 'M2.5 13.5h11M4 11V8M7 11V4M10 11V6.5M13 11V2.5',
  workspaces: 'M2.5 5.5 8 2.5l5.5 3L8 8.5zM2.5 8.5 8 11.5l5.5-3M2.5 11.2 8 14l5.5-2.8',
  models: 'M8 2l5.2 3v6L8 14l-5.2-3V5zM2.8 5 8 8l5.2-3M8 8v6',
  settings: 'M2.5 4.5h6m3 0h2M2.5 11.5h2m3 0h6M10 2.8v3.4M6 9.8v3.4',
  audit: 'M4 2h8v12H4zM6 5h4M6 8h4M6 11h2.5',
  more: 'M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  warn: 'M8 2.5 14.2 13H1.8zM8 6.5v3M8 11.4v.01',
  up: 'M4 9.5 8 5.5l4 4',
  down: 'M4 6.5l4 4 4-4',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  image: 'M2.5 3h11v10h-11zM2.5 11l3.5-3.5 3 3 2-2 2.5 2.5M10.5 6h.01',
  flip: 'M3 5.5h9.5L10 3M13 10.5H3.5L6 13',
} as const

export type IconName = keyof typeof paths

/** Decoration: text beside it has the meaning. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
