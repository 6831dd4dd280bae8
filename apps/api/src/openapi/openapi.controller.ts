import { Controller } from '@nestjs/common';
import { Serves, type InputOf } from '../endpoints';
import { contextOf } from '../http';
import { describeAdminApi } from './admin-document';
import { describeApi } from './api-document';
import { getAdminDocument, getApiDocument, getPlatformDocument, getReference } from './openapi.endpoints';
import { describePlatformApi } from './platform-document';
import type { OpenApiDocument } from './openapi-types';
import { PrintedApi, PrintedText } from './printed-document';
import { REFERENCE_POLICY, referencePage } from './reference/reference-page';
import { ServedApi } from './served-api';

/** The public API and the platform API about themselves, to anyone. Described at the first request: a start does not wait for it. */
@Controller()
export class OpenApiController {
  private readonly api;
  private readonly platform;
  private readonly page;

  constructor(served: ServedApi) {
    const describe = (): OpenApiDocument => describeApi(served.endpoints());
    this.api = new PrintedApi(describe);
    this.platform = new PrintedApi(() => describePlatformApi(served.endpoints()));
    this.page = new PrintedText('text/html; charset=utf-8', () => referencePage(describe()));
  }

  /** The document, its server the surface that was asked. */
  @Serves(getApiDocument)
  async document({ request, response }: InputOf<typeof getApiDocument>): Promise<void> {
    const { prefix } = contextOf(request).surface;
    this.api.send(request, response, { url: prefix === '' ? '/' : prefix, description: 'This surface.' });
  }

  @Serves(getReference)
  async reference({ request, response }: InputOf<typeof getReference>): Promise<void> {
    response.setHeader('Content-Security-Policy', REFERENCE_POLICY);
    this.page.send(request, response);
  }

  @Serves(getPlatformDocument)
  async platformDocument({ request, response }: InputOf<typeof getPlatformDocument>): Promise<void> {
    this.platform.send(request, response, { url: '/', description: 'This service.' });
  }
}

/** The admin API about itself, to anyone who reaches the ops listener. */
@Controller()
export class AdminOpenApiController {
  private readonly admin;

  constructor(served: ServedApi) {
    this.admin = new PrintedApi(() => describeAdminApi(served.endpoints()));
  }

  @Serves(getAdminDocument)
  async document({ request, response }: InputOf<typeof getAdminDocument>): Promise<void> {
    this.admin.send(request, response, { url: '/', description: 'This process.' });
  }
}
