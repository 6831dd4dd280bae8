import { Controller } from '@nestjs/common';
import { AccountStanding } from '@millrace/accounts';
import { ContentLinks, wholeAccount } from '@millrace/assets';
import { Serves, type InputOf } from '../endpoints';
import { ContentSender } from './content-sender';
import { getAssetContent, getSignedContent } from './content.endpoints';

/** The bytes of assets (wire supplement, section 1). */
@Controller()
export class ContentController {
  constructor(
    private readonly links: ContentLinks,
    private readonly standing: AccountStanding,
    private readonly sender: ContentSender,
  ) {}

  /** Self-hosted: the bytes. Elsewhere: a redirect to a link that needs no credential. */
  @Serves(getAssetContent)
  async content({ visitor, params, request, response }: InputOf<typeof getAssetContent>): Promise<void> {
    const asset = { scope: visitor.scope, id: params.id };
    if (visitor.surface.kind === 'self_hosted') await this.sender.sendBytes(request, response, asset);
    else await this.sender.redirectToLink(request, response, visitor.surface, asset);
  }

  /** Anyone who has a signed link may read that asset until the link expires or its account is suspended. */
  @Serves(getSignedContent)
  async signed({ params, request, response }: InputOf<typeof getSignedContent>): Promise<void> {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const { accountId, expiresAt } = this.links.verify(request.method, pathname, searchParams);
    await this.standing.assertActive(accountId);
    await this.sender.sendFromStore(request, response, { scope: wholeAccount(accountId), id: params.id }, expiresAt);
  }
}
