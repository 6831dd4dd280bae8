import { Module } from '@nestjs/common';
import { MembersController } from './members.controller';

/** The people of an account, to the account. */
@Module({ controllers: [MembersController] })
export class MembersModule {}
