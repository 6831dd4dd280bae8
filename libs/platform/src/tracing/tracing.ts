import {
  context,
  INVALID_SPAN_CONTEXT,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import type { TracingSettings } from './tracing.settings';
import { VERSION } from '../version';

/** The kind of a span, by OpenTelemetry's names. */
export type SpanRole = 'internal' | 'server' | 'client' | 'consumer';

export interface SpanOptions {
  role?: SpanRole;
  attributes?: Attributes;
}

const KINDS: Record<SpanRole, SpanKind> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
};
const tracer = trace.getTracer('millrace', VERSION);
/** What stands for a span where nothing is traced. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
/** Whether spans go anywhere. Every request and every statement asks. */
let isTracing = false;

/**
 * Send this process's spans to the collector that the settings name. Without one every function here costs next to nothing,
 * and the exporter (250 files) is not loaded.
 *
 * @param edge true for a process that anyone can call: the caller's sampled flag is then ignored in favour of the sample
 *   ratio, while the caller's trace is joined (W3C Trace Context, section 4.3 on abuse of the sampled flag).
 * @returns `close`, which sends the last spans and stops.
 */
export async function openTracing(
  role: string,
  { otlpEndpoint: endpoint, traceSampleRatio: sampleRatio }: TracingSettings,
  edge = false,
): Promise<{ close(): Promise<void> }> {
  if (endpoint === undefined) return { close: () => Promise.resolve() };
  const { exportTraces } = await import('./trace-export');
  isTracing = true;
  return exportTraces({ role, endpoint, sampleRatio, edge });
}

/** Do work inside a span of this name, a child of the current one. An error that it throws is noted on the span. */
export function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  const { role = 'internal', attributes } = options;
  return tracer.startActiveSpan(name, { kind: KINDS[role], attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      noteError(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * As `inSpan`, but only inside a traced span: for frequent work that is of interest only as a part of other work. Its options are
 * made only then.
 */
export function inChildSpan<T>(name: string, optionsOf: () => SpanOptions, work: () => Promise<T>): Promise<T> {
  return isTracing && trace.getActiveSpan()?.isRecording() ? inSpan(name, optionsOf(), work) : work();
}

/** Begin a span that `work` ends itself, and make it the current one for everything that `work` starts. */
export function openSpan(name: string, options: SpanOptions & { parent?: string }, work: (span: Span) => void): void {
  if (!isTracing) {
    work(NO_SPAN);
    return;
  }
  const { role = 'internal', attributes, parent } = options;
  const outer = contextOf(parent ?? null);
  const span = tracer.startSpan(name, { kind: KINDS[role], attributes }, outer);
  context.with(trace.setSpan(outer, span), () => work(span));
}

/** Record a span that has already ended, as a child of the current one; times in milliseconds since the epoch. */
export function recordSpan(name: string, times: { startMs: number; endMs: number }, options: SpanOptions = {}): void {
  const { role = 'internal', attributes } = options;
  tracer.startSpan(name, { kind: KINDS[role], attributes, startTime: times.startMs }).end(times.endMs);
}

/** The current span as a `traceparent` (W3C Trace Context), or null when nothing is traced. */
export function currentTraceparent(): string | null {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
}

/** Do work as part of a trace that began elsewhere. */
export function underTrace<T>(traceparent: string | null | undefined, work: () => T): T {
  return context.with(contextOf(traceparent ?? null), work);
}

/** What runs work as part of the trace that is current now, when it is not any more. */
export function inCurrentTrace(): (work: () => void) => void {
  return isTracing ? context.bind(context.active(), doNow) : doNow;
}

/** Ids of the current span for a log line; empty when nothing is traced. */
export function traceIds(): { trace_id?: string; span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

const doNow = (work: () => void): void => work();

function contextOf(traceparent: string | null): Context {
  return traceparent === null ? context.active() : propagation.extract(context.active(), { traceparent });
}

/** Only the class of an error: its text may contain what a customer sent. */
function noteError(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
