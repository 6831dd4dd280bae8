import { Controller } from '@nestjs/common';
import { AccountsService } from '@millrace/accounts';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { accountChangesOf, presentAccount } from './account.presenter';
import { createAccount, getAccount, listAccounts, updateAccount } from './accounts.admin-endpoints';

/** Accounts, as operators manage them. */
@Controller()
export class AccountsAdminController {
  constructor(private readonly accounts: AccountsService) {}

  @Serves(createAccount)
  async create({ operator, body }: InputOf<typeof createAccount>): Promise<AnswerOf<typeof createAccount>> {
    const account = { ...accountChangesOf(body), name: body.name };
    return presentAccount(await this.accounts.createAccount(operator, account));
  }

  @Serves(listAccounts)
  async list({ query }: InputOf<typeof listAccounts>): Promise<AnswerOf<typeof listAccounts>> {
    return presentPage('accounts', await this.accounts.listAccounts(query), presentAccount);
  }

  @Serves(getAccount)
  async get({ params }: InputOf<typeof getAccount>): Promise<AnswerOf<typeof getAccount>> {
    return presentAccount(await this.accounts.getAccount(params.id));
  }

  @Serves(updateAccount)
  async update({ operator, params, body }: InputOf<typeof updateAccount>): Promise<AnswerOf<typeof updateAccount>> {
    return presentAccount(await this.accounts.updateAccount(operator, params.id, accountChangesOf(body)));
  }
}
