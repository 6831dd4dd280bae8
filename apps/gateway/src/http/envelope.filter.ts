import type { IncomingMessage, ServerResponse } from 'node:http';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BlobStoreError } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { OutputRefused } from '@millrace/jobs';
import { answerOf, dropRest, endWithJson, type Logger } from '@millrace/platform';

/** Turns everything that is thrown into the envelope of the API. What the gateway itself failed at says nothing of its cause. */
@Catch()
export class EnvelopeFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<IncomingMessage>();
    const response = host.switchToHttp().getResponse<ServerResponse>();
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const refusal = refusalOf(error);
    if (refusal.code === 'upstream_error') {
      this.logger.error({ err: error, path: request.url }, 'a request of a worker failed');
    }
    // A worker that is cut off while it sends never gets to the answer.
    if (!request.complete) dropRest(request);
    const { status, headers, body } = answerOf(refusal);
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    endWithJson(response, JSON.stringify(body));
  }
}

/** What a worker is answered. A fault of the store and an output that cannot be recorded are named, because it acts on them. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof OutputRefused) {
    return new Refusal('invalid_request', error.message, { details: { output_refused: true } });
  }
  if (error instanceof BlobStoreError) {
    return new Refusal('upstream_error', 'The store could not do what was asked.', { details: { store: error.fault } });
  }
  if (error instanceof HttpException && error.getStatus() === 404) {
    return new Refusal(
      'not_found',
      'There is nothing at this path; the gateway is for workers, and serves /gateway/v1.',
    );
  }
  if (error instanceof URIError) {
    return new Refusal('invalid_request', 'The path contains a malformed percent-escape.', { status: 400 });
  }
  return new Refusal('upstream_error', 'The gateway could not complete this request. Try again.');
}
