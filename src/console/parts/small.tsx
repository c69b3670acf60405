/**
 * Small parts that many pages show.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ago, dateTime } from '../format.js'
import { Button } from './button.js'

/** How long ago; the exact time is its tooltip. */
export function Time({ at, none = 'never' }: { at: string | null | undefined; none?: string }) {
  if (at === null || at === undefined) return <span class="faint">{none}</span>
  return (
    <time dateTime={at} title={`${dateTime(at)} UTC`}>
      {ago(at)}
    </time>
  )
}

/** A time in UTC, to the second. */
export function ExactTime({ at }: { readonly at: string }) {
  return (
    <time class="mono" dateTime={at}>
      {at.slice(0, 19).replace('T', ' ')}
    </time>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'idle'

export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`status status-${tone}`}>
      <span class="status-dot" aria-hidden="true" />
      {children}
    </span>
  )
}

interface CopyProps {
  readonly text: string
  /** The label, as `Copy key`. */
  readonly label: string
}

export function CopyButton({ text, label }: CopyProps) {
  const [copied, setCopied] = useState(false)
  const timer = useRef<number>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    await copyText(text)
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), 2000)
  }
  return (
    <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  )
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without TLS, from another machine, there is no clipboard API. A dialog makes everything
    // outside inert: the text must be where the focus is.
    const area = document.createElement('textarea')
    area.value = text
    const parent = document.activeElement?.parentElement ?? document.body
    parent.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

interface MeterProps {
  /** 0 to 1; more is drawn as 1. */
  readonly share: number
  readonly label: string
  readonly tone?: 'main' | 'warn' | 'bad'
}

export function Meter({ share, label, tone = 'main' }: MeterProps) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`
  return (
    <span
      class="meter"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(Math.min(1, Math.max(0, share)) * 100)}
    >
      <span class={`meter-fill meter-${tone}`} style={{ width }} />
    </span>
  )
}

interface PageHeadProps {
  readonly title: string
  readonly about?: ComponentChildren
  readonly children?: ComponentChildren
}

export function PageHead({ title, about, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} – oi console`
  }, [title])
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about !== undefined && <p class="about">{about}</p>}
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </header>
  )
}

/** A list of names and values. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
