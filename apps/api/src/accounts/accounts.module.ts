import { Module } from '@nestjs/common';
import { AccessRulesAdminController } from './access-rules.admin-controller';
import { AccessRulesController } from './access-rules.controller';
import { AccountController } from './account.controller';
import { AccountOverview } from './account-overview';
import { AccountsAdminController } from './accounts.admin-controller';
import { SubmissionDefaultsController } from './submission-defaults.controller';

/** The account, to its own keys. */
@Module({
  controllers: [AccountController, AccessRulesController, SubmissionDefaultsController],
  providers: [AccountOverview],
})
export class AccountsModule {}

/** All accounts, to operators. */
@Module({ controllers: [AccountsAdminController, AccessRulesAdminController] })
export class AccountsAdminModule {}
