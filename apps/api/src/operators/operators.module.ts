import { Module } from '@nestjs/common';
import { RequestLimits } from '../endpoints';
import { OperatorSignInAdminController } from './operator-sign-in.admin-controller';
import { OperatorTokensAdminController } from './operator-tokens.admin-controller';

@Module({
  controllers: [OperatorTokensAdminController, OperatorSignInAdminController],
  providers: [RequestLimits],
})
export class OperatorsAdminModule {}
