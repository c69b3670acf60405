/**
 * Where the console begins.
 *
 * @module
 */

import { render } from 'preact'
import { App } from './app.js'
import './styles/base.css'
import './styles/parts.css'
import './styles/pages.css'
import { applyTheme } from './frame/theme.js'

applyTheme()
render(<App />, document.getElementById('console')!)
