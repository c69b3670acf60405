/** The layout's import rules, as unit/structure.test.ts holds them. */

/** Folders and files directly under src/, and the modules whose values each may import. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  chain: [],
  'in-turn': [],
  running: ['chain'],
  'package-root': [],
  'user-folder': [],
  'open-input': ['errors'],
  'make-folder': ['errors'],
  'server-package': ['package-root', 'errors'],
  config: ['api', 'errors'],
  api: ['package-root', 'errors'],
  prompt: ['api', 'errors'],
  scoring: ['api', 'errors'],
  images: ['api', 'errors'],
  engine: ['package-root', 'errors'],
  runner: ['engine', 'chain', 'in-turn', 'make-folder', 'errors'],
  accounts: ['server-package', 'user-folder', 'make-folder', 'api', 'errors'],
  models: [
    ...['decide', 'engine', 'prompt', 'scoring', 'api'],
    ...['package-root', 'user-folder', 'open-input', 'make-folder', 'errors'],
  ],
  decide: ['prompt', 'scoring', 'images', 'api', 'running', 'errors'],
  evaluate: ['open-input', 'in-turn', 'scoring', 'client', 'api', 'errors'],
  trace: ['package-root', 'errors'],
  http: [
    ...['server-package', 'package-root', 'accounts', 'engine'],
    ...['trace', 'api', 'chain', 'running', 'open-input', 'errors'],
  ],
  admin: ['http', 'accounts', 'api', 'config', 'in-turn', 'errors'],
  oi: ['decide', 'engine', 'api'],
  open: ['oi', 'runner', 'decide', 'models', 'engine', 'api', 'errors'],
  'open-all': ['oi', 'open', 'decide', 'models', 'errors'],
  index: ['oi', 'open', 'open-all', 'api', 'errors'],
  client: [],
  // Bundled for browsers: its imports from there name nothing of Node.
  console: ['api', 'scoring', 'errors'],
  terminal: [],
  opening: ['open', 'runner', 'decide', 'models', 'engine', 'prompt', 'api', 'config', 'errors'],
  server: [
    ...['opening', 'http', 'accounts', 'admin', 'runner', 'decide', 'models', 'engine', 'trace'],
    ...['api', 'config', 'terminal', 'package-root', 'open-input', 'in-turn', 'running', 'errors'],
  ],
  cli: [
    ...['server', 'opening', 'decide', 'models', 'images', 'http', 'accounts', 'admin', 'client'],
    ...['evaluate', 'scoring', 'api', 'config', 'terminal'],
    ...['package-root', 'open-input', 'errors'],
  ],
}

/** Modules of types only, which may also be named: `import type`. */
export const mayImportTypes: Readonly<Record<string, readonly string[]>> = {
  api: ['decide/types'],
  prompt: ['decide/types', 'engine/types', 'scoring/types'],
  scoring: ['decide/types', 'engine/types'],
  images: ['decide/types', 'engine/types'],
  decide: ['engine/types'],
  evaluate: ['decide/types'],
  http: ['decide/types', 'engine/types', 'runner/supervision'],
  admin: ['decide/types'],
  opening: ['scoring/types'],
  cli: ['engine/types', 'prompt/types'],
  index: ['decide/asked-types', 'decide/types', 'engine/types'],
  client: ['decide/asked-types', 'decide/types', 'errors'],
}

/** Packages that only one part of the project may use. */
export const owners: Readonly<Record<string, (path: string) => boolean>> = {
  'uWebSockets.js': (path) => /^src\/http\/transport\/uws-(?:transport|client)\.ts$/.test(path),
  typebox: (path) => /^src\/(?:api|config|models)\b/.test(path),
  'better-sqlite3': (path) => path.startsWith('src/accounts/'),
  '@huggingface/jinja': (path) => path.startsWith('src/prompt/'),
  sharp: (path) => path.startsWith('src/images/'),
  pg: (path) => path.startsWith('src/accounts/store/postgres/'),
  ioredis: (path) => path.startsWith('src/http/access/shared/'),
  pino: (path) => path === 'src/http/log/logger.ts',
  'csv-parse': (path) => path.startsWith('src/evaluate/'),
  preact: (path) => path.startsWith('src/console/'),
  commander: (path) => path.startsWith('src/cli/'),
  'node:module': (path) => ['src/engine/native.ts', 'src/server-package.ts'].includes(path),
}

/** Folders of src/http/, and those of it whose values or types each may import. */
export const httpFolders: Readonly<Record<string, readonly string[]>> = {
  reply: [],
  bodies: [],
  access: [],
  log: [],
  transport: ['reply'],
  metrics: ['log', 'access'],
  requests: ['reply', 'bodies', 'access', 'log', 'metrics'],
}
