import { Controller, Inject } from '@nestjs/common';
import { ApiKeysService } from '@millrace/accounts';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { presentApiKey, presentIssuedKey } from './api-key.presenter';
import { ApiKeyCreateSchema, ApiKeyListSchema, ApiKeyRotateSchema, IssuedApiKeySchema } from './api-key.schemas';
import { PlatformDoor, type PlatformInput } from '../endpoints/platform-door';

const common = { tag: 'api-keys', scope: 'keys:admin' } as const;

const listApiKeys = defineEndpoint({
  ...common,
  id: 'listApiKeys',
  method: 'get',
  path: '/platform/v1/api-keys',
  summary: 'List API keys',
  description: 'All keys that the account ever had, newest first.',
  answer: { status: 200, description: 'The keys.', schema: ApiKeyListSchema },
});

const createApiKey = defineEndpoint({
  ...common,
  id: 'createApiKey',
  method: 'post',
  path: '/platform/v1/api-keys',
  summary: 'Make an API key',
  description:
    'The answer is the one place where the key itself is shown. A key grants only scopes that it has itself.',
  body: ApiKeyCreateSchema,
  answer: { status: 201, description: 'The key was made.', schema: IssuedApiKeySchema },
});

const rotateApiKey = defineEndpoint({
  ...common,
  id: 'rotateApiKey',
  method: 'post',
  path: '/platform/v1/api-keys/{id}/rotate',
  summary: 'Replace an API key',
  description:
    'Makes a key of the same name, scopes and expiry. The old one goes on for `overlap_seconds`, so that clients can ' +
    'change over. A key is rotated once; after that, rotate its successor.',
  body: ApiKeyRotateSchema,
  answer: { status: 201, description: 'The new key.', schema: IssuedApiKeySchema },
});

const revokeApiKey = defineEndpoint({
  ...common,
  id: 'revokeApiKey',
  method: 'delete',
  path: '/platform/v1/api-keys/{id}',
  summary: 'Revoke an API key',
  description: 'It is refused everywhere within 5 seconds. Revoking twice is revoking once.',
  answer: { status: 204, description: 'The key is revoked.' },
});

/** The account's own keys. */
@Controller()
export class ApiKeysController {
  constructor(
    @Inject(PlatformDoor) readonly door: PlatformDoor,
    @Inject(ApiKeysService) private readonly keys: ApiKeysService,
  ) {}

  @Serves(listApiKeys)
  async list({ caller }: PlatformInput<typeof listApiKeys>): Promise<object> {
    return { api_keys: (await this.keys.list(caller.accountId)).map(presentApiKey) };
  }

  @Serves(createApiKey)
  async create({ caller, issuer, body }: PlatformInput<typeof createApiKey>): Promise<object> {
    const { name, scopes, expires_at: expiresAt } = body;
    return presentIssuedKey(await this.keys.issue(issuer, caller.accountId, { name, scopes, expiresAt }));
  }

  @Serves(rotateApiKey)
  async rotate({ caller, issuer, params, body }: PlatformInput<typeof rotateApiKey>): Promise<object> {
    return presentIssuedKey(await this.keys.rotate(issuer, caller.accountId, params.id, body.overlap_seconds));
  }

  @Serves(revokeApiKey)
  async revoke({ caller, issuer, params }: PlatformInput<typeof revokeApiKey>): Promise<void> {
    await this.keys.revoke(issuer, caller.accountId, params.id);
  }
}
