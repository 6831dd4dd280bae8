import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ContentLinks, ContentService, SIGNED_CONTENT_PATH } from '@millrace/assets';
import { ContentSender } from './content-sender';

/** Signed links: whoever has one may read that asset until it expires, without a credential. */
@Controller(SIGNED_CONTENT_PATH)
export class ContentController {
  constructor(
    @Inject(ContentLinks) private readonly links: ContentLinks,
    @Inject(ContentService) private readonly content: ContentService,
    @Inject(ContentSender) private readonly sender: ContentSender,
  ) {}

  @Get(':id')
  async read(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const accountId = this.links.verify(request.method, pathname, searchParams);
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const location = await this.content.location(accountId, id, method);
    if (location === null) await this.sender.sendBytes(request, response, accountId, id);
    else response.writeHead(302, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': '0' }).end();
  }
}
