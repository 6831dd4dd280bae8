import type { Request } from 'express';
import type { CallToolResult, ContentBlock, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { ERROR_CATALOGUE, INVALID_REQUEST, type ErrorEnvelope, type Refusal, type Scope } from '@millrace/contracts';
import { answerOf } from '@millrace/platform';
import type { Visitor } from '../endpoints';
import { LARGE_ANSWER_CHARACTERS, UPSTREAM_ERROR, holdBytes } from '../http';
import type { ProgressReports } from './progress';

/** What there is to say of a tool: all of it is read by models. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** What a key needs to call it. */
  readonly scope: Scope;
  /** What clients ask people before they let a model call it. */
  readonly annotations: ToolAnnotations;
}

/** Who calls a tool, and with what. */
export interface ToolCall {
  readonly visitor: Visitor;
  /** Bytes in memory are counted with this request. */
  readonly request: Request;
  /** Ends when the client is gone or has taken its call back. */
  readonly signal: AbortSignal;
  /** The most that a job may cost which this call submits, in micro-credits. */
  readonly spendLimitMicros: bigint;
  /** The graph as it was sent; see `Message`. */
  readonly graphText: string | undefined;
  /** The most that the body of a submission has. */
  readonly maxWorkflowBytes: number;
  /** The revision of the protocol that the client speaks, a date: later ones have more kinds of content. */
  readonly revision: string;
  /** How far the call is, for clients that want to know. */
  readonly progress: ProgressReports;
}

/** What a tool answers: an object, and for those who can see a picture or play a sound, content. */
export interface ToolAnswer {
  readonly value: object;
  readonly content?: readonly ContentBlock[];
  /** Of a call that has done what cannot be done twice: the small object that is answered where `value` cannot be. */
  readonly otherwise?: (error: unknown) => object;
}

/** A tool of the MCP server: thin, on the services that the endpoints stand on. */
export interface Tool<D extends ToolDefinition = ToolDefinition> {
  readonly definition: D;
  /** @throws Refusal as the endpoint that does the same. */
  run(input: z.output<D['input']>, call: ToolCall): Promise<ToolAnswer>;
}

/** What one character of an object takes in memory until the client has it: its text, and in message and event that text and the object. */
const COPIES = 5;

/**
 * An answer in the protocol's form. The object is there as text as well: many clients show a model nothing else.
 *
 * @throws Refusal `rate_limited` for a large one while too many bytes are in flight, unless it has an `otherwise`.
 */
export function resultOf({ value, content = [], otherwise }: ToolAnswer, call: ToolCall): CallToolResult {
  const text = JSON.stringify(value);
  try {
    if (text.length > LARGE_ANSWER_CHARACTERS) holdBytes(call.request, text.length * COPIES);
  } catch (error) {
    if (otherwise === undefined) throw error;
    return resultOf({ value: otherwise(error) }, call);
  }
  return { content: [{ type: 'text', text }, ...content], structuredContent: value };
}

/** A refusal as a model reads it: what is wrong, and what to do. */
export function refusedResult(refusal: Refusal): CallToolResult {
  const { cure } = refusal.code === 'invalid_request' ? INVALID_REQUEST : ERROR_CATALOGUE[refusal.code];
  const wait = refusal.retryAfterSeconds === undefined ? '' : ` Retry-After: ${refusal.retryAfterSeconds} s.`;
  return errorResult(answerOf(refusal).body, `${cure}${wait}`);
}

/** What is said of a failure that is ours: nothing of its cause. */
export function failedResult(requestId: string): CallToolResult {
  return errorResult(UPSTREAM_ERROR, `${ERROR_CATALOGUE.upstream_error.cure} The request id is ${requestId}.`);
}

function errorResult(envelope: ErrorEnvelope, cure: string): CallToolResult {
  const { code, message, details } = envelope.error;
  const lines = [`${code}: ${message}`, `What to do: ${cure}`, ...(details ? [JSON.stringify(details)] : [])];
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { ...envelope },
  };
}
