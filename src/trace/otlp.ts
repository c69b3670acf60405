/**
 * Spans in the JSON form of the OpenTelemetry protocol (OTLP), version 1.
 *
 * Written by hand, as it is one message of a stable format: the official packages (sdk-trace-base
 * and the exporter of OTLP over HTTP) install 28 MB.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 * @module
 */

import type { Attributes, Span } from './span.js'

const kinds = { internal: 1, server: 2 } as const
const failedStatus = { code: 2 }

/** @param resource - The sender. */
export function otlpRequest(spans: readonly Span[], resource: Attributes): object {
  const scope = { name: 'oi' }
  return {
    resourceSpans: [
      {
        resource: { attributes: listed(resource) },
        scopeSpans: [{ scope, spans: spans.map(otlpSpan) }],
      },
    ],
  }
}

function otlpSpan(span: Span): object {
  const { traceId, spanId, parentId, traceState, name, kind } = span
  const { startMs, endMs, attributes, failed } = span
  return {
    traceId,
    spanId,
    ...(traceState !== '' && { traceState }),
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: listed(attributes),
    ...(failed && { status: failedStatus }),
  }
}

/** As text: 64 bits exceed a JSON number. To the microsecond. */
const nanoseconds = (ms: number) => `${Math.round(ms * 1000)}000`

function listed(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  )
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
