import { Module } from '@nestjs/common';
import { ApiKeysAdminController } from './api-keys.admin-controller';
import { ApiKeysController } from './api-keys.controller';

/** An account's API keys, to the account. */
@Module({ controllers: [ApiKeysController] })
export class ApiKeysModule {}

/** API keys of all accounts, to operators. */
@Module({ controllers: [ApiKeysAdminController] })
export class ApiKeysAdminModule {}
