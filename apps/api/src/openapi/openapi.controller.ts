import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { contextOf } from '../http/request-context';
import { describeApi } from './document';
import { REFERENCE_POLICY, referencePage } from './reference-page';

/** The API about itself, on every surface and for everybody. */
@Controller('api/v2')
export class OpenApiController {
  private readonly document = describeApi();
  private readonly page = referencePage(this.document);

  /** The document, its server the surface that was asked. */
  @Get('openapi.json')
  openapi(@Req() request: Request, @Res() response: Response): void {
    const { prefix } = contextOf(request).surface;
    const servers = [{ url: prefix === '' ? '/' : prefix, description: 'This surface.' }];
    response.setHeader('Cache-Control', 'public, max-age=300');
    response.json({ ...this.document, servers });
  }

  @Get('reference')
  reference(@Res() response: Response): void {
    response.setHeader('Content-Security-Policy', REFERENCE_POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'public, max-age=300');
    response.type('html').send(this.page);
  }
}
