/**
 * The app: who is signed in, and which page is shown.
 *
 * @module
 */

import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { AuditPage } from './audit/page.js'
import { ComparePage } from './compare/page.js'
import { Frame } from './frame/frame.js'
import { FirstSignIn, SignIn, SignInAgain } from './frame/sign-in.js'
import { KeysPage } from './keys/page.js'
import { ModelPage } from './models/model-page.js'
import { ModelsPage } from './models/page.js'
import { usePlace } from './navigation.js'
import { Failed } from './parts/states.js'
import { PageHead } from './parts/small.js'
import { OverviewPage } from './overview/page.js'
import { PlaygroundPage } from './playground/page.js'
import { session } from './server.js'
import { SettingsPage } from './settings/page.js'
import { useStore } from './store.js'
import { UsagePage } from './usage/page.js'
import { useLoad } from './use-load.js'
import type { Session } from './wire.js'
import { WorkspacesPage } from './workspaces/page.js'
import { WorkspacePage } from './workspaces/workspace-page.js'

interface Pages {
  readonly list: FunctionComponent
  /** The page of one item of the list. */
  readonly one?: FunctionComponent<{ readonly name: string }>
  /** The pattern of the items' names. Default: anything. */
  readonly names?: RegExp
}

const pages: Readonly<Record<string, Pages>> = {
  overview: { list: OverviewPage },
  keys: { list: KeysPage },
  playground: { list: PlaygroundPage },
  compare: { list: ComparePage },
  usage: { list: UsagePage },
  workspaces: { list: WorkspacesPage, one: WorkspacePage, names: /^\d{1,15}$/ },
  models: { list: ModelsPage, one: ModelPage },
  settings: { list: SettingsPage },
  audit: { list: AuditPage },
}

export function App() {
  const now = useStore(session)
  const { parts, first } = usePlace()
  const found = useLoad<Session>(now === undefined && first === undefined ? '/session' : undefined)
  useEffect(() => {
    if (found.data !== undefined) session.set(found.data)
  }, [found.data])

  if (first !== undefined) return <FirstSignIn token={first} />
  if (now === null) return <SignIn />
  const [page = 'overview', name] = parts
  if (now === undefined && found.error) {
    return (
      <main class="lone">
        <Failed error={found.error} retry={found.reload} />
      </main>
    )
  }
  // A page loads its data while the session is being checked: without a session the server refuses
  // it, and with one the user waits for one reply instead of two.
  return (
    <>
      <Frame page={page} name={name}>
        <Page page={page} name={name} />
      </Frame>
      {now === 'ended' && <SignInAgain />}
    </>
  )
}

function Page({ page, name }: { readonly page: string; readonly name: string | undefined }) {
  const known = Object.hasOwn(pages, page) ? pages[page] : undefined
  const isNamed = name !== undefined && (known?.names?.test(name) ?? true)
  if (known?.one !== undefined && isNamed) return <known.one key={name} name={name} />
  if (known !== undefined && name === undefined) return <known.list />
  return (
    <PageHead title="This page does not exist">
      <a class="button" href="#/overview">
        Overview
      </a>
    </PageHead>
  )
}
