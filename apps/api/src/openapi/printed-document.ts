import { createHash, type Hash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { OpenApiDocument, Server } from './openapi-types';

const CACHE = 'public, max-age=300';
const ETAG_DIGITS = 32;

/** A text that is printed when it is first asked for, and sent without a copy of it for each who asks. */
export class PrintedText {
  private printed: { bytes: Buffer; hash: Hash } | undefined;

  /** @param type of the content. */
  constructor(
    private readonly type: string,
    private readonly print: () => string,
  ) {}

  /** Send it with this at its end, or 304 to a client that has both. */
  send(request: Request, response: Response, tail = ''): void {
    const { bytes, hash } = (this.printed ??= hashed(this.print()));
    const etag = hash.copy().update(tail).digest('hex').slice(0, ETAG_DIGITS);
    response.set({ 'Cache-Control': CACHE, ETag: `"${etag}"` });
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const length = bytes.length + Buffer.byteLength(tail);
    response.set({ 'Content-Type': this.type, 'Content-Length': String(length) });
    response.write(bytes);
    response.end(tail);
  }
}

function hashed(text: string): { bytes: Buffer; hash: Hash } {
  const bytes = Buffer.from(text);
  return { bytes, hash: createHash('sha256').update(bytes) };
}

/** An API document. All but its servers is printed once: they are the surface at which it is asked for. */
export class PrintedApi {
  private readonly text: PrintedText;

  constructor(describe: () => OpenApiDocument) {
    this.text = new PrintedText('application/json; charset=utf-8', () => {
      const { servers: _, ...document } = describe();
      return JSON.stringify(document).slice(0, -1);
    });
  }

  send(request: Request, response: Response, server: Server): void {
    this.text.send(request, response, `,"servers":${JSON.stringify([server])}}`);
  }
}
