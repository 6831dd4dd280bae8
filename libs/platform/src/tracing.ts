import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import type { TracingSettings } from './tracing.settings';
import { VERSION } from './version';

/** What a span was for, in OpenTelemetry's words. */
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

/**
 * Send this process's spans to the collector that the settings name; without one every function here costs next to
 * nothing, and what would send them is not even loaded (two hundred and fifty files).
 *
 * @param edge true where strangers call: their word that a request be traced then counts no more than the sample ratio,
 *   while the trace they name is joined (W3C Trace Context, section 4.3 on abuse of the sampled flag).
 * @returns what sends the last spans and ends it.
 */
export async function openTracing(
  role: string,
  { otlpEndpoint: endpoint, traceSampleRatio: sampleRatio }: TracingSettings,
  edge = false,
): Promise<{ close(): Promise<void> }> {
  if (endpoint === undefined) return { close: () => Promise.resolve() };
  const { exportTraces } = await import('./trace-export');
  return exportTraces({ role, endpoint, sampleRatio, edge });
}

/** Do work inside a span of this name, a child of the current one. An error that leaves it is noted on the span. */
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

/** As `inSpan`, only where somebody is already tracing: for work that is done often and matters as a part of something. */
export function inChildSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  return trace.getActiveSpan()?.isRecording() ? inSpan(name, options, work) : work();
}

/** Begin a span that ends when its holder says so, and make it the current one for everything that `work` starts. */
export function openSpan(name: string, options: SpanOptions & { parent?: string }, work: (span: Span) => void): void {
  const { role = 'internal', attributes, parent } = options;
  const outer = contextOf(parent ?? null);
  const span = tracer.startSpan(name, { kind: KINDS[role], attributes }, outer);
  context.with(trace.setSpan(outer, span), () => work(span));
}

/** Note a span that is over already, as a child of the current one; times in milliseconds since the epoch. */
export function recordSpan(name: string, times: { startMs: number; endMs: number }, options: SpanOptions = {}): void {
  const { role = 'internal', attributes } = options;
  tracer.startSpan(name, { kind: KINDS[role], attributes, startTime: times.startMs }).end(times.endMs);
}

/** The current span in the form in which it travels (W3C Trace Context), or null when nothing is traced. */
export function currentTraceparent(): string | null {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
}

/** Do work as a part of a trace that was begun elsewhere. */
export function underTrace<T>(traceparent: string | null | undefined, work: () => T): T {
  return context.with(contextOf(traceparent ?? null), work);
}

/** Ids of the current span for a log line; empty when nothing is traced. */
export function traceIds(): { trace_id?: string; span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

function contextOf(traceparent: string | null): Context {
  return traceparent === null ? context.active() : propagation.extract(context.active(), { traceparent });
}

/** Only the class of an error: its text may carry what a customer sent. */
function noteError(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
