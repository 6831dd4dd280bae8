import { Controller, Inject } from '@nestjs/common';
import type { Request } from 'express';
import { SignInLinksService } from '@millrace/accounts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { contextOf } from '../http';
import { createSignInLink } from './sign-in-links.admin-endpoints';

/** Links by which operators sign a browser in. */
@Controller()
export class SignInLinksAdminController {
  constructor(
    private readonly links: SignInLinksService,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'publicUrl' | 'port'>,
  ) {}

  @Serves(createSignInLink)
  async create({
    operator,
    params,
    body,
    request,
  }: InputOf<typeof createSignInLink>): Promise<AnswerOf<typeof createSignInLink>> {
    const { token, expiresAt } = await this.links.create(operator, params.id, body.api_key_id);
    return { url: `${this.publicOrigin(request)}/console/#link=${token}`, expires_at: expiresAt.toISOString() };
  }

  /** Without a public URL: the public port of the host that the operator asked. */
  private publicOrigin(request: Request): string {
    if (this.settings.publicUrl !== undefined) return this.settings.publicUrl;
    const url = new URL(contextOf(request).surface.origin);
    url.port = String(this.settings.port);
    return url.origin;
  }
}
