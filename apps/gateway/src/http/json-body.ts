import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { Refusal } from '@millrace/contracts';
import { readJson } from './read-json';
import { RequestBody } from './request-body';

/** The most that a body may be. */
interface JsonLimits {
  maxBytes: number;
  maxValues: number;
}

/** Of what a worker says in passing: a heartbeat, a preview, names of 40,000 models. */
const SMALL: JsonLimits = { maxBytes: 2 * 1024 * 1024, maxValues: 50_000 };
/** Of what holds a log; it may have 10 MiB. */
export const LOG: JsonLimits = { maxBytes: 16 * 1024 * 1024, maxValues: 100 };
/** Of an end, which has a log and the times of up to 5,000 nodes, whose ids and classes are as long as the graph has them. */
export const END: JsonLimits = { maxBytes: 32 * 1024 * 1024, maxValues: 50_000 };
/**
 * Of a catalogue: it has about as many bytes as the `/object_info` of its ComfyUI. That of 2,000 classes has 2 MiB; more
 * come from long lists of models, which each loader repeats. A value takes 15 bytes in a catalogue without models, and more in one with.
 */
export const CATALOGUE: JsonLimits = { maxBytes: 16 * 1024 * 1024, maxValues: 1_000_000 };

/** Larger ones are parsed and checked in turn: it takes 0.05 ms for each KiB, and more where much is wrong. */
const AT_ONCE_BYTES = 4_096;

const RequestOf = createParamDecorator((_: unknown, context: ExecutionContext): IncomingMessage =>
  context.switchToHttp().getRequest<IncomingMessage>(),
);

/** The JSON body of a request, checked. It is read after the guards: nobody's body is read who has no token. */
export function Json(schema: z.ZodType): ParameterDecorator {
  const pipe: PipeTransform<IncomingMessage> = {
    transform: (request) => new LargeBody(request, schema, SMALL).read(),
  };
  return RequestOf(pipe);
}

/** A body that may be large: it is read once the handler knows whose it is, and asks for it. */
export function LargeJson(schema: z.ZodType, limits: JsonLimits): ParameterDecorator {
  const pipe: PipeTransform<IncomingMessage> = { transform: (request) => new LargeBody(request, schema, limits) };
  return RequestOf(pipe);
}

/** The JSON body of a request that has not been read. */
export class LargeBody<T> {
  private readonly body: RequestBody;

  constructor(
    request: IncomingMessage,
    private readonly schema: z.ZodType<T>,
    private readonly limits: JsonLimits,
  ) {
    this.body = RequestBody.of(request);
  }

  /**
   * Read and check it.
   *
   * @throws Refusal `payload_too_large`, `rate_limited`, or `invalid_request` with what is wrong.
   */
  read(): Promise<T> {
    return this.body.during(async () => {
      const bytes = await this.body.read(this.limits.maxBytes);
      if (bytes.length <= AT_ONCE_BYTES) return this.check(bytes);
      return this.body.inTurn(async () => this.check(bytes));
    });
  }

  /** Read and check it, and do what it asks for, while no other body is used so. @throws as `read`, and what `work` throws. */
  use<R>(work: (value: T) => Promise<R>): Promise<R> {
    return this.body.during(async () => {
      const bytes = await this.body.read(this.limits.maxBytes);
      return this.body.inTurn(() => work(this.check(bytes)), true);
    });
  }

  /** Leave it unread: the answer does not depend on it. */
  drop(): void {
    this.body.drop();
  }

  private check(bytes: Buffer): T {
    const parsed = this.schema.safeParse(readJson(bytes, this.limits.maxValues));
    if (parsed.success) return parsed.data;
    throw Refusal.ofFields(
      parsed.error.issues
        .slice(0, 20)
        .map(({ path, message }) => ({ field: path.join('.') || 'body', reason: message })),
    );
  }
}
