import { Controller, Inject } from '@nestjs/common';
import { RateLimiter, SignInMailsService } from '@millrace/accounts';
import { API_SETTINGS, mailOriginOf, type ApiSettings } from '../api.config';
import { Serves, assertOwnPage, type InputOf } from '../endpoints';
import { networkOf } from '../http';
import { keepBrowser } from './browser-cookie';
import { sendSignInMail } from './sign-in-mails.endpoints';

/** Signing in by a link that comes by mail. */
@Controller()
export class SignInMailsController {
  constructor(
    private readonly mails: SignInMailsService,
    private readonly limiter: RateLimiter,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  @Serves(sendSignInMail)
  async send({ body, request, response }: InputOf<typeof sendSignInMail>): Promise<void> {
    assertOwnPage(request);
    const browser = keepBrowser(request, response);
    const origin = mailOriginOf(this.settings);
    await this.mails.ask(this.limiter, { email: body.email, network: networkOf(request), browser, origin });
  }
}
