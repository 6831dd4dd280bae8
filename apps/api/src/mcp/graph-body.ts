import { z } from 'zod';
import { largerThan } from '../http';
import type { ToolCall } from './tool';

/** A graph as an argument. What is submitted is its text, not this value: `ToolCall.graphText`. */
export const graphInput = z
  .record(z.string(), z.unknown())
  .describe(
    'The graph in API format: node ids to {"class_type": ..., "inputs": {...}}. An input is a value, a link ["<node id>", ' +
      '<output number>], or an uploaded file {"__type": "core/ASSET", "info": {"id": "<asset id>"}}.',
  );

/** The labels of a job. */
export const metadataInput = z.record(z.string(), z.string());

/** The body of a submission, the graph character for character. @throws Refusal `payload_too_large`, as of that body by the API. */
export function graphBody(call: ToolCall, metadata?: z.output<typeof metadataInput>): Uint8Array {
  const labels = metadata === undefined ? '' : `,"metadata":${JSON.stringify(metadata)}`;
  const body = Buffer.from(`{"workflow":${call.graphText ?? 'null'}${labels}}`);
  if (body.length > call.maxWorkflowBytes) throw largerThan(call.maxWorkflowBytes);
  return body;
}
