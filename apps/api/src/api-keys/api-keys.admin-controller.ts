import { Controller, Inject } from '@nestjs/common';
import { AccountsService, ApiKeysService, issuerOf } from '@millrace/accounts';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { presentApiKey, presentIssuedKey } from './api-key.presenter';
import { ApiKeyCreateSchema, ApiKeyListSchema, IssuedApiKeySchema } from './api-key.schemas';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const tag = 'api-keys';

const issueApiKey = defineEndpoint({
  id: 'issueApiKey',
  method: 'post',
  path: '/admin/v1/accounts/{id}/api-keys',
  tag,
  summary: 'Make an API key for an account',
  description: 'The answer is the one place where the key itself is shown.',
  body: ApiKeyCreateSchema,
  answer: { status: 201, description: 'The key was made.', schema: IssuedApiKeySchema },
});

const listAccountApiKeys = defineEndpoint({
  id: 'listAccountApiKeys',
  method: 'get',
  path: '/admin/v1/accounts/{id}/api-keys',
  tag,
  summary: "List an account's API keys",
  description: 'All keys that it ever had, newest first.',
  answer: { status: 200, description: 'The keys.', schema: ApiKeyListSchema },
});

const revokeAccountApiKey = defineEndpoint({
  id: 'revokeAccountApiKey',
  method: 'delete',
  path: '/admin/v1/accounts/{id}/api-keys/{key_id}',
  tag,
  summary: "Revoke an account's API key",
  description: 'It is refused everywhere within 5 seconds. Revoking twice is revoking once.',
  answer: { status: 204, description: 'The key is revoked.' },
});

/** The keys of accounts, as operators manage them. */
@Controller()
export class ApiKeysAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AccountsService) private readonly accounts: AccountsService,
    @Inject(ApiKeysService) private readonly keys: ApiKeysService,
  ) {}

  @Serves(issueApiKey)
  async issue({ operator, params, body }: AdminInput<typeof issueApiKey>): Promise<object> {
    const { name, scopes, expires_at: expiresAt } = body;
    return presentIssuedKey(await this.keys.issue(issuerOf(operator), params.id, { name, scopes, expiresAt }));
  }

  @Serves(listAccountApiKeys)
  async list({ params }: AdminInput<typeof listAccountApiKeys>): Promise<object> {
    const { id } = await this.accounts.getAccount(params.id);
    return { api_keys: (await this.keys.list(id)).map(presentApiKey) };
  }

  @Serves(revokeAccountApiKey)
  async revoke({ operator, params }: AdminInput<typeof revokeAccountApiKey>): Promise<void> {
    await this.keys.revoke(operator, params.id, params.key_id);
  }
}
