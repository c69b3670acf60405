/**
 * The style of a report's page, light and dark.
 *
 * @module
 */

/** Constant text, without data. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f8fa; --line: #d1d9e0; --text: #1f2328; --soft: #59636e;
  --accent: #0969da; --bar: #a8cdf5; --faint: #c5ccd3; --mark: #bc4c00; --warn: #fff4dc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --panel: #161b22; --line: #3d444d; --text: #f0f6fc; --soft: #9aa4af;
    --accent: #4493f8; --bar: #1f5397; --faint: #4a525c; --mark: #f0883e; --warn: #3a2d0c;
  }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 48px; max-width: 1000px; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere }
h2 { font-size: 17px; margin: 36px 0 10px }
p { margin: 4px 0; overflow-wrap: anywhere }
.soft { color: var(--soft) }
.warning { background: var(--warn); border: 1px solid var(--line); border-radius: 6px;
  padding: 8px 12px; margin: 10px 0 }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 10px;
  margin: 20px 0 0 }
.tile { background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: 10px 12px }
.tile b { display: block; font-size: 22px; font-weight: 600; line-height: 1.3 }
.tile span { color: var(--soft); font-size: 13px }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; min-width: 100% }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap }
th { font-weight: 600; color: var(--soft); font-size: 13px }
.texts1 :is(th, td):first-child, .texts3 :is(th, td):nth-child(-n+3),
.texts4 :is(th, td):nth-child(-n+4) { text-align: left }
td.name { max-width: 240px; overflow: hidden; text-overflow: ellipsis }
h3 { font-size: 15px; margin: 20px 0 8px; overflow-wrap: anywhere }
.plots { display: flex; flex-wrap: wrap; gap: 16px }
svg { max-width: 100%; height: auto; display: block }
svg.wide { max-width: none }
svg .small { font-size: 9px }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft) }
svg .strong { fill: var(--text); font-weight: 600 }
.grid { stroke: var(--line); stroke-width: .5; fill: none }
.axis { stroke: var(--line); fill: none }
.bar { fill: var(--bar) }
.faint { fill: var(--faint) }
.point { fill: var(--accent) }
.ideal { stroke: var(--soft); stroke-dasharray: 4 4; fill: none }
.curve { stroke: var(--accent); stroke-width: 1.5; fill: none }
.whisker { stroke: var(--accent); fill: none }
.hit { fill: var(--accent) }
.miss { fill: var(--mark) }
.mark { stroke: var(--mark); fill: none }
.meter { display: inline-block; height: 10px; background: var(--bar); border-radius: 2px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; font-size: 14px }
dt { font-weight: 600 }
dd { margin: 0; color: var(--soft) }
@media (max-width: 600px) { dl { display: block } dd { margin: 0 0 8px } }
`
