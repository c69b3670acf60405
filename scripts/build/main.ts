/**
 * `npm run build -- [--cuda|--vulkan|--metal|--hip] [--portable] [--sanitize] [--clean]`
 *
 * @module
 */

import { build } from './command.js'

process.exitCode = await build(process.argv.slice(2))
