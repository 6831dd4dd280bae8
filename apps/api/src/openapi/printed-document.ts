import { createHash, type Hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { OpenApiDocument, Server } from './openapi-types';

const CACHE = 'public, max-age=300';
const ETAG_DIGITS = 32;

/** A text that is printed once for a process, and sent without a copy of it for each who asks. */
export class PrintedText {
  private readonly bytes: Buffer;
  private readonly hash: Hash;

  /** @param type of the content. */
  constructor(
    private readonly type: string,
    text: string,
  ) {
    this.bytes = Buffer.from(text);
    this.hash = createHash('sha256').update(this.bytes);
  }

  /** Send it with this at its end, or 304 to a client that has both. */
  send(request: Request, response: Response, tail = ''): void {
    const etag = this.hash.copy().update(tail).digest('hex').slice(0, ETAG_DIGITS);
    response.set({ 'Cache-Control': CACHE, ETag: `"${etag}"` });
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const length = this.bytes.length + Buffer.byteLength(tail);
    response.set({ 'Content-Type': this.type, 'Content-Length': String(length) });
    response.write(this.bytes);
    response.end(tail);
  }
}

/** An API document. All but its servers is printed once: they are the surface at which it is asked for. */
export class PrintedApi {
  private readonly text: PrintedText;

  constructor({ servers: _, ...document }: OpenApiDocument) {
    this.text = new PrintedText('application/json; charset=utf-8', JSON.stringify(document).slice(0, -1));
  }

  send(request: Request, response: Response, server: Server): void {
    this.text.send(request, response, `,"servers":${JSON.stringify([server])}}`);
  }
}
