import { Controller } from '@nestjs/common';
import type { Request } from 'express';
import { AccessRulesService, ApiKeysService, type KeyIssuer } from '@millrace/accounts';
import { Serves, actorOf, type AnswerOf, type InputOf, type Visitor } from '../endpoints';
import { keyWishOf, presentApiKey, presentIssuedKey } from './api-key.presenter';
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey, updateApiKey } from './api-keys.endpoints';
import { readKeyLabels } from './key-query';

/** The account's own keys. */
@Controller()
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly rules: AccessRulesService,
  ) {}

  @Serves(listApiKeys)
  async list({ visitor, request }: InputOf<typeof listApiKeys>): Promise<AnswerOf<typeof listApiKeys>> {
    const labels = readKeyLabels(request.query);
    return { api_keys: (await this.keys.list(visitor.caller.accountId, labels)).map(presentApiKey) };
  }

  @Serves(createApiKey)
  async create({ visitor, body, request }: InputOf<typeof createApiKey>): Promise<AnswerOf<typeof createApiKey>> {
    const { accountId } = visitor.caller;
    return presentIssuedKey(await this.keys.issue(issuerOf(visitor, request), accountId, keyWishOf(body)));
  }

  @Serves(updateApiKey)
  async update({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof updateApiKey>): Promise<AnswerOf<typeof updateApiKey>> {
    const { allowed_addresses: allowed } = body;
    const issuer = issuerOf(visitor, request);
    return presentApiKey(await this.rules.changeKey(issuer, visitor.caller.accountId, params.id, allowed));
  }

  @Serves(rotateApiKey)
  async rotate({
    visitor,
    params,
    body,
    request,
  }: InputOf<typeof rotateApiKey>): Promise<AnswerOf<typeof rotateApiKey>> {
    const { accountId } = visitor.caller;
    return presentIssuedKey(
      await this.keys.rotate(issuerOf(visitor, request), accountId, params.id, body.overlap_seconds),
    );
  }

  @Serves(revokeApiKey)
  async revoke({ visitor, params, request }: InputOf<typeof revokeApiKey>): Promise<void> {
    await this.keys.revoke(issuerOf(visitor, request), visitor.caller.accountId, params.id);
  }
}

/** The caller's key as the one who acts, for the audit log. */
function issuerOf({ caller }: Visitor, request: Request): KeyIssuer {
  return { ...actorOf(caller, request), grantable: caller.scopes, keyId: caller.apiKeyId };
}
