/**
 * One workspace: its settings, the rest of its budget and balance, and its ledger.
 *
 * @module
 */

import { count, credits } from '../format.js'
import { Facts, PageHead, Time } from '../parts/small.js'
import { LoadedPart } from '../parts/states.js'
import { useLoad } from '../use-load.js'
import type { Workspace } from '../wire.js'
import { Archive, BudgetForm, CreditForm, LimitsForm, NameForm } from './forms.js'
import { Ledger } from './ledger.js'
import { BudgetBar } from './remainder.js'

export function WorkspacePage({ name: id }: { readonly name: string }) {
  const workspace = useLoad<Workspace>(`/workspaces/${encodeURIComponent(id)}`)
  const onChanged = (next: Workspace) => workspace.put(() => next)
  return (
    <>
      <p class="trail">
        <a href="#/workspaces">Workspaces</a>
      </p>
      <PageHead title={workspace.data?.name ?? 'Workspace'}>
        {workspace.data && <Archive of={workspace.data} onChanged={onChanged} />}
      </PageHead>
      <LoadedPart of={workspace}>
        {(data) => {
          const { id, budget, balance, archived_at: archivedAt } = data
          return (
            <>
              {archivedAt !== null && (
                <p class="note">
                  Archived <Time at={archivedAt} />: its keys are refused.
                </p>
              )}
              <Facts
                of={[
                  ['Active keys', <a href={`#/keys?workspace=${id}`}>{count(data.active_keys)}</a>],
                  ['Usage', <a href={`#/usage?by=key&workspace_id=${id}`}>by key, hour and day</a>],
                  ['Created', <Time at={data.created_at} />],
                  ['Number', String(id)],
                ]}
              />
              <div class="cards">
                <section class="card" aria-labelledby="budget-title">
                  <h2 id="budget-title">Budget</h2>
                  {budget === null ? (
                    <p class="faint">No budget: tokens are not limited by period.</p>
                  ) : (
                    <BudgetBar of={budget} />
                  )}
                  <BudgetForm of={data} onChanged={onChanged} />
                </section>
                <section class="card" aria-labelledby="balance-title">
                  <h2 id="balance-title">Balance</h2>
                  {balance === null ? (
                    <p class="faint">No limit: answers are not paid from a balance.</p>
                  ) : (
                    <p class={balance <= 0 ? 'figure bad' : 'figure'}>
                      {credits(balance)} <span class="unit">credits left</span>
                    </p>
                  )}
                  <CreditForm of={data} onChanged={onChanged} />
                </section>
                <section class="card" aria-labelledby="limits-title">
                  <h2 id="limits-title">Limits</h2>
                  <LimitsForm of={data} onChanged={onChanged} />
                </section>
                <section class="card" aria-labelledby="name-title">
                  <h2 id="name-title">Name</h2>
                  <NameForm of={data} onChanged={onChanged} />
                </section>
              </div>
              <section aria-labelledby="ledger-title">
                <h2 id="ledger-title">Ledger</h2>
                <p class="about">
                  Changes of the balance, newest first. Answers that cost nothing have no row while
                  the balance has no limit: they are in the usage.
                </p>
                <Ledger key={String(balance)} workspaceId={id} />
              </section>
            </>
          )
        }}
      </LoadedPart>
    </>
  )
}
