import { Module } from '@nestjs/common';
import { SpendAdminController } from './spend.admin-controller';
import { SpendController } from './spend.controller';

/** Caps on what the jobs of an account may cost, to the account. */
@Module({ controllers: [SpendController] })
export class SpendModule {}

/** Caps of all accounts, to operators. */
@Module({ controllers: [SpendAdminController] })
export class SpendAdminModule {}
