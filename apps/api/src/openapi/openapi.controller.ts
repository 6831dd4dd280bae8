import { Controller } from '@nestjs/common';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { contextOf } from '../http';
import { describeAdminApi } from './admin-document';
import { describeApi } from './api-document';
import { getAdminDocument, getApiDocument, getPlatformDocument, getReference } from './openapi.endpoints';
import { describePlatformApi } from './platform-document';
import { REFERENCE_POLICY, referencePage } from './reference/reference-page';
import { ServedApi } from './served-api';

const CACHE = 'public, max-age=300';

/** The public API and the platform API about themselves, to anyone. */
@Controller()
export class OpenApiController {
  private readonly api;
  private readonly platform;
  private readonly page;

  constructor(served: ServedApi) {
    const endpoints = served.endpoints();
    this.api = describeApi(endpoints);
    this.platform = { ...describePlatformApi(endpoints), servers: [{ url: '/', description: 'This service.' }] };
    this.page = referencePage(this.api);
  }

  /** The document, its server the surface that was asked. */
  @Serves(getApiDocument)
  async document(input: InputOf<typeof getApiDocument>): Promise<AnswerOf<typeof getApiDocument>> {
    const { prefix } = contextOf(input.request).surface;
    const servers = [{ url: prefix === '' ? '/' : prefix, description: 'This surface.' }];
    input.response.setHeader('Cache-Control', CACHE);
    return { ...this.api, servers };
  }

  @Serves(getReference)
  async reference({ response }: InputOf<typeof getReference>): Promise<AnswerOf<typeof getReference>> {
    response.setHeader('Content-Security-Policy', REFERENCE_POLICY);
    response.setHeader('Cache-Control', CACHE);
    response.type('html');
    return this.page;
  }

  @Serves(getPlatformDocument)
  async platformDocument(input: InputOf<typeof getPlatformDocument>): Promise<AnswerOf<typeof getPlatformDocument>> {
    input.response.setHeader('Cache-Control', CACHE);
    return this.platform;
  }
}

/** The admin API about itself, to anyone who reaches the ops listener. */
@Controller()
export class AdminOpenApiController {
  private readonly admin;

  constructor(served: ServedApi) {
    this.admin = { ...describeAdminApi(served.endpoints()), servers: [{ url: '/', description: 'This process.' }] };
  }

  @Serves(getAdminDocument)
  async document({ response }: InputOf<typeof getAdminDocument>): Promise<AnswerOf<typeof getAdminDocument>> {
    response.setHeader('Cache-Control', CACHE);
    return this.admin;
  }
}
