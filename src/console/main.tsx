/**
 * The entry point of the console.
 *
 * @module
 */

import { render } from 'preact'
import { App } from './app.js'
import { applyTheme } from './frame/theme.js'

applyTheme()
render(<App />, document.getElementById('console')!)
