import { Controller } from '@nestjs/common';
import { AccountSubmissionDefaults } from '@millrace/accounts';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import { getSubmissionDefaults, putSubmissionDefaults } from './submission-defaults.endpoints';

/** How the account's jobs are made where a submission does not say it. */
@Controller()
export class SubmissionDefaultsController {
  constructor(private readonly defaults: AccountSubmissionDefaults) {}

  @Serves(getSubmissionDefaults)
  async get({ visitor }: InputOf<typeof getSubmissionDefaults>): Promise<AnswerOf<typeof getSubmissionDefaults>> {
    return this.defaults.read(visitor.caller.accountId);
  }

  @Serves(putSubmissionDefaults)
  async put({
    visitor,
    body,
    request,
  }: InputOf<typeof putSubmissionDefaults>): Promise<AnswerOf<typeof putSubmissionDefaults>> {
    await this.defaults.set(actorOf(visitor.caller, request), visitor.caller.accountId, body);
    return body;
  }
}
