import { Module } from '@nestjs/common';
import { CreditAlertController } from './credit-alert.controller';
import { CreditsAdminController } from './credits.admin-controller';
import { CreditsController } from './credits.controller';
import { ExportsController } from './exports.controller';
import { PaymentEventsController } from './payment-events.controller';
import { TopUpsController } from './top-ups.controller';

/** An account's credits, to the account, and the payments that add to them. */
@Module({
  controllers: [CreditsController, CreditAlertController, ExportsController, TopUpsController, PaymentEventsController],
})
export class CreditsModule {}

/** Credits of all accounts, to operators. */
@Module({ controllers: [CreditsAdminController] })
export class CreditsAdminModule {}
