import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiClient, eventually, TestStack } from '@millrace/testing';

/** A span as OTLP's JSON has it, with the service it came from. */
interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string } }[];
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

const collected: CollectedSpan[] = [];
let bytes = '';
let collector: Server;
let stack: TestStack;
let client: ApiClient;

function collect(body: string): void {
  bytes += body;
  const { resourceSpans } = JSON.parse(body) as ExportRequest;
  for (const { resource, scopeSpans } of resourceSpans) {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    for (const { spans } of scopeSpans) collected.push(...spans.map((span) => ({ ...span, service })));
  }
}

beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      collect(body);
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => collector.once('listening', resolve));
  const { port } = collector.address() as AddressInfo;
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, MILLRACE_TRACE_SAMPLE_RATIO: '1' };
  stack = await TestStack.start({ settings });
  const { apiKey } = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, apiKey);
});
afterAll(async () => {
  await stack.stop();
  collector.closeAllConnections();
  collector.close();
});

const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 255 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'traced' } },
};

describe('the trace of a job', () => {
  it('goes from the request over PostgreSQL and the queue to the worker and its engine, joined to the trace of the caller', async () => {
    const traceId = 'b'.repeat(32);
    const callerSpanId = 'c'.repeat(16);
    const headers = { traceparent: `00-${traceId}-${callerSpanId}-01` };
    const { body } = await client.submit(JSON.stringify({ workflow: GRAPH }), headers);
    const { id } = body;
    await client.ended(id);
    const ofTrace = await eventually('the spans of every process to arrive', () => {
      const spans = collected.filter((span) => span.traceId === traceId);
      return spans.some(({ name }) => name === 'attempt') && spans.some(({ name }) => name.startsWith('POST')) && spans;
    });
    const named = (service: string, name: string): CollectedSpan[] =>
      ofTrace.filter((span) => span.service === service && span.name === name);
    const [request] = named('millrace-api', 'POST /api/v2/jobs');
    const [attempt] = named('millrace-worker', 'attempt');
    expect(request?.parentSpanId).toBe(callerSpanId);
    expect(named('millrace-api', 'postgresql').map((span) => span.parentSpanId)).toContain(request?.spanId);
    expect(named('millrace-worker', 'queue').map((span) => span.parentSpanId)).toEqual([request?.spanId]);
    expect(attempt?.parentSpanId).toBe(request?.spanId);
    expect(attempt?.attributes).toContainEqual({ key: 'millrace.job', value: { stringValue: id } });
    expect(named('millrace-worker', 'engine.run').map((span) => span.parentSpanId)).toEqual([attempt?.spanId]);
    expect(named('millrace-worker', 'postgresql').map((span) => span.parentSpanId)).toContain(attempt?.spanId);
  });

  it('carries no value that a customer sent', async () => {
    const canary = `canary-${'x'.repeat(20)}`;
    const { id } = await client.run(GRAPH, {
      metadata: { label: canary },
      extra_data: { api_key_vendor_org: canary },
    });
    await client.ended(id);
    await eventually('the span of its attempt to arrive', () => bytes.includes(id));
    expect(bytes).not.toContain(canary);
  });
});
