import type { PipeTransform } from '@nestjs/common';
import type { Request, Response } from 'express';
import { parseFields, readJson } from '../http';
import type { Endpoint } from './endpoint';
import { claimedKey, idempotencyKeyOf } from './idempotency-key';
import { pathParametersOf, type PathParameter } from './path-parameters';
import { guestOf } from './visitor';

/** Both ends of a request's connection. */
export interface Exchange {
  request: Request;
  response: Response;
}

/** Makes the input of an endpoint's handler: its path, query, idempotency key and body, read and checked in this order. */
export class InputPipe implements PipeTransform<Exchange, Promise<object>> {
  private readonly params: readonly [name: string, parameter: PathParameter][];
  /** Text that stands for a body that was not sent. */
  private readonly absentBody: string;

  constructor(private readonly endpoint: Endpoint) {
    this.params = pathParametersOf(endpoint);
    this.absentBody = endpoint.body?.safeParse({}).success ? '{}' : '';
  }

  /** @throws Refusal for the first part that does not fit, with all its fields. */
  async transform({ request, response }: Exchange): Promise<object> {
    const { query, idempotencyKey, body, bodyBytes } = this.endpoint;
    const guest = guestOf(request);
    return {
      visitor: guest?.visitor,
      operator: guest?.operator,
      params: this.readParams(request),
      query: query === undefined ? undefined : parseFields(query, request.query, 400),
      idempotencyKey:
        idempotencyKey === undefined ? undefined : claimedKey(guest?.visitor?.caller, idempotencyKeyOf(request)),
      ...(body === undefined ? { body, text: '' } : await readJson(request, body, this.absentBody, bodyBytes)),
      request,
      response,
    };
  }

  private readParams(request: Request): Record<string, string> {
    const params: Record<string, string> = {};
    for (const [name, parameter] of this.params) params[name] = parameter.read(String(request.params[name]));
    return params;
  }
}
