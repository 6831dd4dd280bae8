import { Module } from '@nestjs/common';
import { StatusController } from './status.controller';

/** How the service does, to anyone. */
@Module({ controllers: [StatusController] })
export class StatusModule {}
