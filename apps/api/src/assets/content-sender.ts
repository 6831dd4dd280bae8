import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AssetService, ContentLinks, ContentService, type AssetScope } from '@millrace/assets';
import type { Surface } from '../http';

/** Whose bytes, and which. */
interface AssetName {
  scope: AssetScope;
  id: string;
}

/** Sends the bytes of assets, or redirects to where they are. */
@Injectable()
export class ContentSender {
  constructor(
    private readonly assets: AssetService,
    private readonly content: ContentService,
    private readonly links: ContentLinks,
  ) {}

  /** Answer with the bytes: all, a part, or none where the client has them. @throws Refusal `not_found`. */
  async sendBytes(request: Request, response: Response, { scope, id }: AssetName): Promise<void> {
    const { status, headers, body } = await this.content.open(scope, id, {
      method: methodOf(request),
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

  /**
   * Redirect to the store's own link where it has one, else answer with the bytes.
   *
   * @param until when the link ends by which the client came.
   * @throws Refusal `not_found`.
   */
  async sendFromStore(request: Request, response: Response, asset: AssetName, until: Date): Promise<void> {
    const location = await this.content.location(asset.scope, asset.id, methodOf(request), until);
    if (location === null) await this.sendBytes(request, response, asset);
    else redirect(response, location);
  }

  /** Redirect to the store's own link where it has one, else to our signed link. @throws Refusal `not_found`. */
  async redirectToLink(request: Request, response: Response, surface: Surface, asset: AssetName): Promise<void> {
    const { scope, id } = asset;
    const stored = await this.content.location(scope, id, methodOf(request));
    redirect(response, stored ?? this.links.toContent(surface, await this.assets.get(scope, id)).url);
  }
}

/** A link is valid for one method. */
function methodOf({ method }: Request): 'GET' | 'HEAD' {
  return method === 'HEAD' ? 'HEAD' : 'GET';
}

function redirect(response: Response, location: string): void {
  response.writeHead(302, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': '0' }).end();
}

function isPrematureClose(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
