import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { openSpan, whenClosed, type Metrics } from '@millrace/platform';

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** What stands for the route of a request that no handler took, so that scanners make no new time series. */
const NO_ROUTE = '(none)';

/** Times every request by its route pattern, and opens its span: a child of the caller's, where the caller names one. */
export function observeRequests(metrics: Metrics): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const { method } = request;
    const { traceparent } = request.headers;
    const parent = typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
    const stopTimer = metrics.httpRequestSeconds.startTimer();
    openSpan(method, { role: 'server', parent, attributes: { 'http.request.method': method } }, (span) => {
      whenClosed(response, () => {
        const route = (request.route as { path?: string } | undefined)?.path ?? NO_ROUTE;
        stopTimer({ method, route, status: response.statusCode });
        if (span.isRecording()) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ 'http.route': route, 'http.response.status_code': response.statusCode });
        }
        span.end();
      });
      next();
    });
  };
}
