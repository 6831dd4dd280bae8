import { Controller, Inject } from '@nestjs/common';
import { TopUpsService } from '@millrace/billing';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { PlatformDoor, type PlatformInput } from '../endpoints/platform-door';
import { TopUpCreateSchema, TopUpSchema, presentTopUp } from './top-up.schemas';

const createTopUp = defineEndpoint({
  id: 'createTopUp',
  method: 'post',
  path: '/platform/v1/top-ups',
  tag: 'credits',
  scope: 'credits:write',
  summary: 'Buy credits',
  description:
    'Opens a page of the payment provider; send the payer to `checkout_url`. The credits are there when the provider ' +
    'tells that it has the money. Nothing is charged by asking.',
  body: TopUpCreateSchema,
  answer: { status: 201, description: 'The top-up is open.', schema: TopUpSchema },
  errors: ['payments_not_configured'],
});

const getTopUp = defineEndpoint({
  id: 'getTopUp',
  method: 'get',
  path: '/platform/v1/top-ups/{id}',
  tag: 'credits',
  scope: 'usage:read',
  summary: 'Read a top-up',
  description: 'Whether it is paid.',
  answer: { status: 200, description: 'The top-up.', schema: TopUpSchema },
});

/** Credits that the account buys. */
@Controller()
export class TopUpsController {
  constructor(
    @Inject(PlatformDoor) readonly door: PlatformDoor,
    @Inject(TopUpsService) private readonly topUps: TopUpsService,
  ) {}

  @Serves(createTopUp)
  async create({ caller, body }: PlatformInput<typeof createTopUp>): Promise<object> {
    return presentTopUp(await this.topUps.open(caller.accountId, body.credits, body.return_url));
  }

  @Serves(getTopUp)
  async get({ caller, params }: PlatformInput<typeof getTopUp>): Promise<object> {
    return presentTopUp(await this.topUps.get(caller.accountId, params.id));
  }
}
