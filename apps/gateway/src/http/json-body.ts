import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { Refusal } from '@millrace/contracts';

/** Of what a worker says in passing: a heartbeat, a preview. */
const SMALL_BYTES = 2 * 1024 * 1024;
/** Of what holds a whole catalogue or log. */
export const LARGE_BYTES = 32 * 1024 * 1024;

/** A body must have arrived after so long, in milliseconds. */
const DEADLINE_MS = 60_000;

const RequestOf = createParamDecorator((_: unknown, context: ExecutionContext): IncomingMessage =>
  context.switchToHttp().getRequest<IncomingMessage>(),
);

/** The JSON body of a request, checked. It is read after the guards: nobody's body is read who has no token. */
export function Json(schema: z.ZodType, maxBytes = SMALL_BYTES): ParameterDecorator {
  return RequestOf(new JsonPipe(schema, maxBytes));
}

class JsonPipe implements PipeTransform<IncomingMessage, Promise<unknown>> {
  constructor(
    private readonly schema: z.ZodType,
    private readonly maxBytes: number,
  ) {}

  /** @throws Refusal `payload_too_large`, or `invalid_request` with every field that is wrong. */
  async transform(request: IncomingMessage): Promise<unknown> {
    const parsed = this.schema.safeParse(parse(await readText(request, this.maxBytes)));
    if (parsed.success) return parsed.data;
    throw Refusal.ofFields(
      parsed.error.issues
        .slice(0, 20)
        .map(({ path, message }) => ({ field: path.join('.') || 'body', reason: message })),
    );
  }
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const deadline = setTimeout(() => request.destroy(), DEADLINE_MS);
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        throw new Refusal('payload_too_large', `The body has more than ${maxBytes} bytes, which is the limit here.`);
      }
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(deadline);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid JSON.', { status: 400 });
  }
}
