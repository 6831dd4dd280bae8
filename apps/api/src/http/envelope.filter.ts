import {
  Catch,
  HttpException,
  ServiceUnavailableException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { Refusal } from '@millrace/contracts';
import { isUnstorableText } from '@millrace/database';
import { answerOf, dropRest, endWithJson, type Logger } from '@millrace/platform';
import { UPSTREAM_ERROR } from './error-envelope';
import { contextOf } from './request-context';
import type { RouteTable } from './route-table';

/** Turns everything that is thrown into the envelope. The one place where errors meet HTTP. */
@Catch()
export class EnvelopeFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly routes: RouteTable,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (error instanceof ServiceUnavailableException) {
      // Health checks answer in their own shape: what is down, and why.
      response.status(503).json(error.getResponse());
      return;
    }
    const refusal = error instanceof Refusal ? this.refined(error, request) : this.refusalOf(error, request);
    if (response.headersSent) {
      // The answer has begun and cannot be taken back: cutting it is the only way left to say that it is not whole.
      this.logger.warn({ err: error, requestId: contextOf(request).requestId }, 'an answer broke off');
      response.destroy();
      return;
    }
    if (refusal === null) {
      this.logger.error({ err: error, requestId: contextOf(request).requestId, route: request.path }, 'request failed');
      response.status(500).json(UPSTREAM_ERROR);
      return;
    }
    // Node would read an unread body to its end, however long it is and however slowly it comes.
    if (!request.complete) dropRest(request);
    const { status, headers, body } = answerOf(refusal);
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    endWithJson(response, JSON.stringify(body));
  }

  /** A record that is not found may be a path that exists. */
  private refined(refusal: Refusal, request: Request): Refusal {
    return (refusal.code === 'not_found' ? this.routes.refusalOfId(request) : null) ?? refusal;
  }

  /** What the framework and the router throw about a request they cannot take. */
  private refusalOf(error: unknown, request: Request): Refusal | null {
    if (error instanceof URIError || (error as { status?: unknown } | null)?.status === 400) {
      return new Refusal('invalid_request', 'The path contains a malformed percent-escape.', { status: 400 });
    }
    // What reads a request refuses such a text by the name of its field; this is for one that it lets pass.
    if (isUnstorableText(error)) {
      return new Refusal('invalid_request', 'A text of the request has NUL in it, which cannot be stored.', {
        status: 400,
      });
    }
    if (error instanceof HttpException && error.getStatus() === 404) return this.routes.refusalOf(request);
    return null;
  }
}
