import { Controller, Inject } from '@nestjs/common';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { AccountOverview } from './account-overview';
import { AccountOverviewSchema } from './account-overview.schemas';
import { PlatformDoor, type PlatformInput } from '../endpoints/platform-door';

const getAccount = defineEndpoint({
  id: 'getAccount',
  method: 'get',
  path: '/platform/v1/account',
  tag: 'account',
  scope: 'usage:read',
  summary: 'Read the account',
  description: 'Whose key this is, what the account may do, and how much of that it does now.',
  answer: { status: 200, description: 'The account.', schema: AccountOverviewSchema },
});

/** The account that a key belongs to. */
@Controller()
export class AccountController {
  constructor(
    @Inject(PlatformDoor) readonly door: PlatformDoor,
    @Inject(AccountOverview) private readonly overview: AccountOverview,
  ) {}

  @Serves(getAccount)
  async get({ caller }: PlatformInput<typeof getAccount>): Promise<object> {
    return this.overview.of(caller);
  }
}
