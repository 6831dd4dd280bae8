import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import type { ErrorCode } from '@millrace/contracts';
import {
  JSON_TYPE,
  createSequentialServer,
  endWithJson,
  endWithinAnswer,
  envelopeOf,
  sendText,
  type Connections,
} from '@millrace/platform';
import { LARGE_ANSWER_CHARACTERS, heldBytesOf, holdBytes } from './body/hold-bytes';
import { rawAnswer } from './error-envelope';
import { messagesOf } from './express-messages';
import { Printed } from './printed';
import { requestIdHeaders } from './request-id';

/** Upload of a large file over a slow line takes hours; bodies that are read at once have a limit of their own. */
const REQUEST_TIMEOUT_MS = 6 * 3_600_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of the load balancers in front (60 s is common), so that they never reuse a closed connection. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16_384;
/** For a client to read why it was refused and close its connection. */
const LINGER_MS = 5_000;

/** Express on a server that answers in the envelope even where no request could be read. */
export class PublicAdapter extends ExpressAdapter {
  constructor(
    instance: Express,
    private readonly connections: Connections,
  ) {
    super(instance);
  }

  override initHttpServer(): void {
    const server = createPublicServer(this.getInstance<Express>());
    this.connections.watch(server);
    this.httpServer = server;
  }

  /** @throws Refusal `rate_limited` for a large answer to a request that only reads, while too many are in flight. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // Express would first look for headers that only an answer with a body has.
    if (body === undefined && statusCode === undefined) return response.end();
    if (typeof body !== 'object' || body === null) return super.reply(response, body, statusCode) as unknown;
    const text = body instanceof Printed ? body.text : JSON.stringify(body);
    if (statusCode !== undefined) response.status(statusCode);
    if (text.length <= LARGE_ANSWER_CHARACTERS) return endWithJson(response, text);
    // What was done is not answered as refused.
    if (response.req.method === 'GET') holdBytes(response.req, text.length);
    else heldBytesOf(response.req).hold(text.length);
    return sendText(response, JSON_TYPE, [text]);
  }
}

function createPublicServer(app: Express): Server {
  const options = {
    ...messagesOf(app),
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // A request without a Host is refused with the others that cannot be read (`contextMiddleware`), not with an empty body.
    requireHostHeader: false,
  };
  const server = createSequentialServer(options, (request, response) => {
    if (isReadable(request.url ?? '')) app(request, response);
    else refuseTarget(response);
  });
  answerUnreadable(server);
  return server;
}

/** Express finds no path in other targets, and would pass every handler by. */
function isReadable(target: string): boolean {
  const isPath = target.startsWith('/') && !target.startsWith('//');
  return isPath || URL.canParse(target, 'http://localhost');
}

function refuseTarget(response: ServerResponse): void {
  answer(response, 400, 'invalid_request', 'The target of the request is neither a path nor a URL.');
}

function answer(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  const text = JSON.stringify(envelopeOf(code, message));
  response.writeHead(status, {
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    ...requestIdHeaders(randomUUID()),
  });
  response.end(text);
}

/** Answer in the envelope what never becomes a request, where no other answer is under way on its connection. */
export function answerUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (endWithinAnswer(socket)) return;
    const [status, message] = complaintOf(error.code);
    refuse(socket, status, 'invalid_request', message);
  });
  server.on('connect', (_request, socket: Duplex) => {
    if (endWithinAnswer(socket)) return;
    refuse(socket, 405, 'method_not_allowed', 'CONNECT is not supported here; use GET or POST.', {
      Allow: 'GET, POST',
    });
  });
}

/** The answer to bytes in which Node could read no request. */
function complaintOf(code: string | undefined): [status: number, message: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, `The headers of the request are larger than ${MAX_HEADER_BYTES} bytes, which is the limit.`];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request did not arrive in time.'];
    default:
      return [400, 'The request is not valid HTTP.'];
  }
}

function refuse(
  socket: Duplex,
  status: number,
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): void {
  // A client that disconnects meanwhile gets no answer, and that is no failure.
  socket.on('error', () => socket.destroy());
  // The other half would stay open for as long as the client likes. At once, what still arrives would lose it the answer.
  socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref());
  socket.end(rawAnswer(status, envelopeOf(code, message), { ...headers, ...requestIdHeaders(randomUUID()) }));
}
