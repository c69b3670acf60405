/**
 * A dialog in front of the page. The browser keeps the focus in it and closes it with Escape.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Action } from '../use-load.js'
import { Button, RemoveButton } from './button.js'
import { ErrorNote } from './states.js'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** Whether only its buttons close it. */
  readonly stays?: boolean
  readonly wide?: boolean
  /** Whether it hides the whole page. */
  readonly covers?: boolean
  readonly children: ComponentChildren
}

export function Dialog(props: DialogProps) {
  const { title, onClose, stays = false, wide = false, covers = false, children } = props
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={`dialog${wide ? ' dialog-wide' : ''}${covers ? ' dialog-covers' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        // The page removes the dialog, so that page and browser agree.
        event.preventDefault()
        if (!stays) onClose()
      }}
      onKeyDown={(event) => {
        // A second Escape would close it in spite of onCancel.
        if (event.key === 'Escape') {
          event.preventDefault()
          event.stopPropagation()
          if (!stays) onClose()
        }
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {!stays && <RemoveButton label="Close" onClick={onClose} />}
      </header>
      {children}
    </dialog>
  )
}

interface FormDialogProps {
  readonly title: string
  /** The text of the button: the action. */
  readonly deed: string
  readonly danger?: boolean
  readonly action: Action<[]>
  readonly onClose: () => void
  /** As `Loading`, of an action that goes on at the server when the dialog is closed. */
  readonly going?: string
  readonly children: ComponentChildren
}

/** A form in a dialog, or a question, that ends with what to do, or not. */
export function FormDialog(props: FormDialogProps) {
  const { title, deed, danger, action, onClose, going, children } = props
  const goesOn = going !== undefined && action.busy
  return (
    <Dialog title={title} onClose={onClose}>
      <FormIn action={action}>
        {children}
        {goesOn && (
          <p class="note" role="status">
            <span class="spinner" aria-hidden="true" />
            <span>{going}. You may close this: the server goes on.</span>
          </p>
        )}
        <div class="row dialog-foot">
          <Button onClick={onClose}>{goesOn ? 'Close' : 'Cancel'}</Button>
          <Button kind={danger ? 'danger' : 'main'} busy={action.busy}>
            {deed}
          </Button>
        </div>
      </FormIn>
    </Dialog>
  )
}

interface FormProps {
  readonly action: Action<[]>
  /** The text of its button at the end; without it, the children have one. */
  readonly deed?: string
  /** Whether there is nothing to do now. */
  readonly idle?: boolean
  /** Before that button. */
  readonly beside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A form that shows its error below its fields. */
export function FormIn({ action, deed, idle = false, beside, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [sent, setSent] = useState(0)
  // Focus on a faulty field makes screen readers read its error. A refusal is announced by itself,
  // and must be scrolled into view.
  useEffect(() => {
    const { current } = form
    if (sent === 0 || current === null) return
    current.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    current.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' })
  }, [sent])
  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void action.run().then(() => setSent((sent) => sent + 1))
      }}
    >
      {children}
      {deed !== undefined && (
        <div class="row form-foot">
          {beside}
          <Button busy={action.busy || idle}>{deed}</Button>
        </div>
      )}
      <ErrorNote error={action.error} />
    </form>
  )
}
