import { Controller } from '@nestjs/common';
import { AccessRulesService } from '@millrace/accounts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { getAccountAccessRules, updateAccountAccessRules } from './access-rules.admin-endpoints';
import { accessChangesOf, presentAccessRules } from './access-rules.schemas';

/** From where accounts' keys may be used, as operators manage it. */
@Controller()
export class AccessRulesAdminController {
  constructor(private readonly rules: AccessRulesService) {}

  @Serves(getAccountAccessRules)
  async get({ params }: InputOf<typeof getAccountAccessRules>): Promise<AnswerOf<typeof getAccountAccessRules>> {
    return presentAccessRules(await this.rules.read(params.id));
  }

  @Serves(updateAccountAccessRules)
  async update({
    operator,
    params,
    body,
  }: InputOf<typeof updateAccountAccessRules>): Promise<AnswerOf<typeof updateAccountAccessRules>> {
    const { actor, address, reason } = operator;
    const acting = { actor, address, reason: reason ?? null, keyId: null };
    return presentAccessRules(await this.rules.change(acting, params.id, accessChangesOf(body)));
  }
}
