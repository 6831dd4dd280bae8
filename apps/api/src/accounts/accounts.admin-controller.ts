import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService, type Account, type AccountChanges } from '@millrace/accounts';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { pageQuery, presentPage } from '../endpoints/page-query';
import {
  AccountCreateSchema,
  AccountUpdateSchema,
  AdminAccountPageSchema,
  AdminAccountSchema,
} from './account.schemas';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const tag = 'accounts';

const createAccount = defineEndpoint({
  id: 'createAccount',
  method: 'post',
  path: '/admin/v1/accounts',
  tag,
  summary: 'Make an account',
  description: 'It has no key and no credits yet.',
  body: AccountCreateSchema,
  answer: { status: 201, description: 'The account was made.', schema: AdminAccountSchema },
});

const listAccounts = defineEndpoint({
  id: 'listAccounts',
  method: 'get',
  path: '/admin/v1/accounts',
  tag,
  summary: 'List accounts',
  description: 'All accounts, newest first.',
  query: z.object(pageQuery),
  answer: { status: 200, description: 'A page of accounts.', schema: AdminAccountPageSchema },
  errors: ['invalid_cursor'],
});

const getAccount = defineEndpoint({
  id: 'getAccount',
  method: 'get',
  path: '/admin/v1/accounts/{id}',
  tag,
  summary: 'Read an account',
  description: 'Its state and its own limits.',
  answer: { status: 200, description: 'The account.', schema: AdminAccountSchema },
});

const updateAccount = defineEndpoint({
  id: 'updateAccount',
  method: 'patch',
  path: '/admin/v1/accounts/{id}',
  tag,
  summary: 'Change an account',
  description: 'Limits, plan, name, and whether it is suspended. Every API process goes by it within 5 seconds.',
  body: AccountUpdateSchema,
  answer: { status: 200, description: 'The account as it is now.', schema: AdminAccountSchema },
});

/** Accounts, as operators manage them. */
@Controller()
export class AccountsAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AccountsService) private readonly accounts: AccountsService,
  ) {}

  @Serves(createAccount)
  async create({ operator, body }: AdminInput<typeof createAccount>): Promise<object> {
    const account = { ...changesOf(body), name: body.name };
    return presentAccount(await this.accounts.createAccount(operator, account));
  }

  @Serves(listAccounts)
  async list({ query }: AdminInput<typeof listAccounts>): Promise<object> {
    return presentPage('accounts', await this.accounts.listAccounts(query), presentAccount);
  }

  @Serves(getAccount)
  async get({ params }: AdminInput<typeof getAccount>): Promise<object> {
    return presentAccount(await this.accounts.getAccount(params.id));
  }

  @Serves(updateAccount)
  async update({ operator, params, body }: AdminInput<typeof updateAccount>): Promise<object> {
    return presentAccount(await this.accounts.updateAccount(operator, params.id, changesOf(body)));
  }
}

function changesOf(body: z.output<typeof AccountUpdateSchema>): AccountChanges {
  return {
    name: body.name,
    plan: body.plan,
    status: body.status,
    weight: body.weight,
    runningLimit: body.running_limit,
    queueLimit: body.queue_limit,
    requestsPerMinute: body.requests_per_minute,
    streamLimit: body.stream_limit,
    uploadBytesPerDay: body.upload_bytes_per_day,
  };
}

function presentAccount(account: Account): object {
  return {
    id: account.id,
    name: account.name,
    kind: account.kind,
    status: account.status,
    plan: account.plan,
    weight: account.weight,
    running_limit: account.runningLimit,
    queue_limit: account.queueLimit,
    requests_per_minute: account.requestsPerMinute,
    stream_limit: account.streamLimit,
    upload_bytes_per_day: account.uploadBytesPerDay === null ? null : Number(account.uploadBytesPerDay),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
