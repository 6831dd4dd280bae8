import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { AssetService, ContentLinks, ContentService } from '@millrace/assets';
import type { Surface } from '../http/surface';

/** Sends the bytes of assets, or says where they are. */
export class ContentSender {
  constructor(
    private readonly assets: AssetService,
    private readonly content: ContentService,
    private readonly links: ContentLinks,
  ) {}

  /** Answer with the bytes: whole, in part, or not at all where the client has them. */
  async sendBytes(request: Request, response: Response, accountId: string, id: string): Promise<void> {
    const { status, headers, body } = await this.content.open(accountId, id, {
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      range: request.headers.range,
      ifRange: request.headers['if-range'] as string | undefined,
      ifNoneMatch: request.headers['if-none-match'],
    });
    response.writeHead(status, headers);
    if (body === null) {
      response.end();
      return;
    }
    try {
      await pipeline(body, response);
    } catch (error) {
      // A client may well stop reading after the headers; that is no failure of ours.
      if (!isPrematureClose(error)) throw error;
    }
  }

  /** Answer with the place of the bytes: the store's own, or our signed route. The link is good for this method. */
  async redirect(request: Request, response: Response, surface: Surface, accountId: string, id: string): Promise<void> {
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const stored = await this.content.location(accountId, id, method);
    const location = stored ?? this.links.toContent(surface, await this.assets.get(accountId, id)).url;
    response.writeHead(302, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': '0' }).end();
  }
}

function isPrematureClose(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
