import { Controller } from '@nestjs/common';
import { OperatorTokensService, type OperatorToken } from '@millrace/accounts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { createOperatorToken, listOperatorTokens, revokeOperatorToken } from './operator-tokens.admin-endpoints';

/** Operators' tokens, as admins manage them. */
@Controller()
export class OperatorTokensAdminController {
  constructor(private readonly tokens: OperatorTokensService) {}

  @Serves(createOperatorToken)
  async create({ operator, body }: InputOf<typeof createOperatorToken>): Promise<AnswerOf<typeof createOperatorToken>> {
    const { name, role, expires_at: expiresAt } = body;
    const token = await this.tokens.make(operator, { name, role, expiresAt });
    return { ...factsOf(token), token: token.text };
  }

  @Serves(listOperatorTokens)
  async list(_: InputOf<typeof listOperatorTokens>): Promise<AnswerOf<typeof listOperatorTokens>> {
    return { tokens: (await this.tokens.list()).map(presentToken) };
  }

  @Serves(revokeOperatorToken)
  async revoke({ operator, params }: InputOf<typeof revokeOperatorToken>): Promise<void> {
    await this.tokens.revoke(operator, params.id);
  }
}

function presentToken(token: OperatorToken): AnswerOf<typeof listOperatorTokens>['tokens'][number] {
  return {
    ...factsOf(token),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

function factsOf({ id, name, role, createdBy, createdAt, expiresAt }: OperatorToken) {
  return {
    id,
    name,
    role,
    created_by: createdBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
