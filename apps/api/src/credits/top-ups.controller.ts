import { Controller } from '@nestjs/common';
import { TopUpsService } from '@millrace/billing';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { presentTopUp } from './top-up.presenter';
import { createTopUp, getTopUp } from './top-ups.endpoints';

/** Credits that the account buys. */
@Controller()
export class TopUpsController {
  constructor(private readonly topUps: TopUpsService) {}

  @Serves(createTopUp)
  async create({ visitor, body }: InputOf<typeof createTopUp>): Promise<AnswerOf<typeof createTopUp>> {
    return presentTopUp(await this.topUps.open(visitor.caller.accountId, body.credits, body.return_url));
  }

  @Serves(getTopUp)
  async get({ visitor, params }: InputOf<typeof getTopUp>): Promise<AnswerOf<typeof getTopUp>> {
    return presentTopUp(await this.topUps.get(visitor.caller.accountId, params.id));
  }
}
