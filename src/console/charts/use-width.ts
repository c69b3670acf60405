/**
 * The width of an element, for drawing in it.
 *
 * @module
 */

import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** @returns What to give the element, and its width, CSS pixels. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(800)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => setWidth(Math.max(240, current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}
