/**
 * `oi openapi`: the OpenAPI document, for tools that make clients or pages from it.
 *
 * @module
 */

import type { Command } from 'commander'
import { openApiDocument } from '../api/openapi/document.js'
import { serverAddress } from './input/values.js'
import { print } from '../terminal/print.js'

export function addOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the HTTP interface')
    .option('--server <address>', 'address of the server that it describes')
    .action(({ server }: { readonly server?: string }) => {
      const serverUrl = server === undefined ? undefined : serverAddress('--server', server)
      const text = `${JSON.stringify(openApiDocument({ serverUrl }), null, 2)}\n`
      print(text)
    })
}
