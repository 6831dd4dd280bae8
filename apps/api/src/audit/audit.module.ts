import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';

/** An account's own audit log. */
@Module({ controllers: [AuditController] })
export class AuditModule {}
