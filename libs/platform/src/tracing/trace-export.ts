import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { VERSION } from '../version';

/** Where spans go, and how many of them. */
export interface TraceExport {
  role: string;
  /** Of the collector, without the path of the signal. */
  endpoint: string;
  /** From 0 to 1. */
  sampleRatio: number;
  /** True for a process that anyone can call. */
  edge: boolean;
}

/**
 * Send the spans of this process to a collector, from now on.
 *
 * @returns `close`, which sends the last spans and stops.
 */
export function exportTraces({ role, endpoint, sampleRatio, edge }: TraceExport): { close(): Promise<void> } {
  const ratio = new TraceIdRatioBasedSampler(sampleRatio);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: `millrace-${role}`,
      [ATTR_SERVICE_VERSION]: VERSION,
      [ATTR_SERVICE_INSTANCE_ID]: String(process.pid),
    }),
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: edge ? ratio : new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` }),
        // A job that ends with its process must not take its spans with it.
        { scheduledDelayMillis: 1_000 },
      ),
    ],
  });
  provider.register();
  return { close: () => provider.shutdown() };
}
