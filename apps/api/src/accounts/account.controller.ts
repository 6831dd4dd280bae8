import { Controller } from '@nestjs/common';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { AccountOverview } from './account-overview';
import { getAccount } from './account.endpoints';

/** The account that a key belongs to. */
@Controller()
export class AccountController {
  constructor(private readonly overview: AccountOverview) {}

  @Serves(getAccount)
  async get({ visitor }: InputOf<typeof getAccount>): Promise<AnswerOf<typeof getAccount>> {
    return this.overview.of(visitor.caller);
  }
}
