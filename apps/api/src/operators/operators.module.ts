import { Module } from '@nestjs/common';
import { OperatorTokensAdminController } from './operator-tokens.admin-controller';

@Module({ controllers: [OperatorTokensAdminController] })
export class OperatorsAdminModule {}
