import { Controller } from '@nestjs/common';
import { AccountsService, ApiKeysService, issuerOf } from '@millrace/accounts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { keyWishOf, presentApiKey, presentIssuedKey } from './api-key.presenter';
import { issueApiKey, listAccountApiKeys, revokeAccountApiKey } from './api-keys.admin-endpoints';

/** The keys of accounts, as operators manage them. */
@Controller()
export class ApiKeysAdminController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
  ) {}

  @Serves(issueApiKey)
  async issue({ operator, params, body }: InputOf<typeof issueApiKey>): Promise<AnswerOf<typeof issueApiKey>> {
    return presentIssuedKey(await this.keys.issue(issuerOf(operator), params.id, keyWishOf(body)));
  }

  @Serves(listAccountApiKeys)
  async list({ params }: InputOf<typeof listAccountApiKeys>): Promise<AnswerOf<typeof listAccountApiKeys>> {
    const { id } = await this.accounts.getAccount(params.id);
    return { api_keys: (await this.keys.list(id)).map(presentApiKey) };
  }

  @Serves(revokeAccountApiKey)
  async revoke({ operator, params }: InputOf<typeof revokeAccountApiKey>): Promise<void> {
    await this.keys.revoke(issuerOf(operator), params.id, params.key_id);
  }
}
