import type { RequestListener, Server, ServerResponse } from 'node:http';
import { type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import {
  Connections,
  JSON_TYPE,
  NestLogger,
  createSequentialServer,
  endWithJson,
  listen,
  sendText,
  whenClosed,
  type Logger,
  type Metrics,
} from '@millrace/platform';
import { EnvelopeFilter } from './envelope.filter';
import { RequestBody } from './request-body';

/** A part of an output over a slow line takes minutes; JSON has a deadline of its own. */
const REQUEST_TIMEOUT_MS = 600_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of the load balancers in front (60 s is common), so that they never reuse a closed connection. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16_384;
/** As long as a client of the API may. */
const STALLED_MS = 120_000;
const LARGE_ANSWER_CHARACTERS = 262_144;

interface Listener {
  host: string;
  port: number;
  maxConnections: number;
  trustedProxies: number;
  /** How long a worker may take nothing of its answer, in milliseconds. */
  stalledMs?: number | undefined;
}

const OUTCOMES = ['answered', 'refused', 'failed', 'left'] as const;

class GatewayAdapter extends ExpressAdapter {
  constructor(private readonly connections: Connections) {
    super();
  }

  /** Large answers are written as fast as the worker takes them, and count for its token meanwhile. */
  override reply(response: ServerResponse, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null) return super.reply(response, body, statusCode) as unknown;
    const text = JSON.stringify(body);
    if (statusCode !== undefined) response.statusCode = statusCode;
    if (text.length <= LARGE_ANSWER_CHARACTERS) return endWithJson(response, text);
    RequestBody.of(response.req).hold(Buffer.byteLength(text));
    return sendText(response, JSON_TYPE, [text]);
  }

  override initHttpServer(): void {
    const options = {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    };
    const server = createSequentialServer(options, this.getInstance<RequestListener>());
    this.connections.watch(server);
    this.httpServer = server;
  }
}

/**
 * Open the listener for workers outside the cluster. TLS ends at the ingress before it.
 *
 * @throws BootError when the port is taken.
 */
export async function openGateway(
  module: DynamicModule,
  { host, port, maxConnections, trustedProxies, stalledMs = STALLED_MS }: Listener,
  logger: Logger,
  metrics: Pick<Metrics, 'remoteRequests'>,
): Promise<{ port: number; close(): Promise<void> }> {
  // Of one address there may be many: workers of a site share one, and so does all that comes by a proxy.
  const connections = new Connections({ connections: maxConnections, connectionsPerAddress: null, stalledMs });
  const app = await NestFactory.create(module, new GatewayAdapter(connections), {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const express = app.getHttpAdapter().getInstance() as { set(name: string, value: unknown): void };
  express.set('x-powered-by', false);
  express.set('etag', false);
  express.set('trust proxy', trustedProxies);
  // Those that did not happen yet: a counter that begins at 1 hides its first.
  for (const outcome of OUTCOMES) metrics.remoteRequests.inc({ outcome }, 0);
  const answering = new Set<ServerResponse>();
  let isClosing = false;
  app.use((_request: unknown, response: ServerResponse, next: () => void) => {
    answering.add(response);
    if (isClosing) endConnection(response);
    whenClosed(response, () => answering.delete(response));
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    whenClosed(response, () => metrics.remoteRequests.inc({ outcome: outcomeOf(response) }));
    next();
  });
  app.useGlobalFilters(new EnvelopeFilter(logger));
  const opened = await listen(app, { host, port }, 'MILLRACE_GATEWAY_PORT');
  return {
    port: opened,
    // A worker that polls would go on over its open connection, and the server wait for it: after this answer it finds another gateway.
    close: async () => {
      isClosing = true;
      for (const response of answering) endConnection(response);
      (app.getHttpServer() as Server).closeIdleConnections();
      await app.close();
    },
  };
}

/** Have the connection end with this answer. */
function endConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}

function outcomeOf({ writableFinished, statusCode }: ServerResponse): (typeof OUTCOMES)[number] {
  if (!writableFinished) return 'left';
  return statusCode >= 500 ? 'failed' : statusCode >= 400 ? 'refused' : 'answered';
}
