import { Controller } from '@nestjs/common';
import { AccessRulesService } from '@millrace/accounts';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import { getAccessRules, updateAccessRules } from './access-rules.endpoints';
import { accessChangesOf, presentAccessRules } from './access-rules.schemas';

/** From where, and until which age, the account's keys may be used. */
@Controller()
export class AccessRulesController {
  constructor(private readonly rules: AccessRulesService) {}

  @Serves(getAccessRules)
  async get({ visitor }: InputOf<typeof getAccessRules>): Promise<AnswerOf<typeof getAccessRules>> {
    return presentAccessRules(await this.rules.read(visitor.caller.accountId));
  }

  @Serves(updateAccessRules)
  async update({
    visitor,
    body,
    request,
  }: InputOf<typeof updateAccessRules>): Promise<AnswerOf<typeof updateAccessRules>> {
    const { caller } = visitor;
    const actor = { ...actorOf(caller, request), keyId: caller.apiKeyId };
    return presentAccessRules(await this.rules.change(actor, caller.accountId, accessChangesOf(body)));
  }
}
