import { Module } from '@nestjs/common';
import { AccountArchive } from './account-archive';
import { PrivacyAdminController } from './privacy.admin-controller';
import { PrivacyController } from './privacy.controller';

/** What an account has, handed out and erased, to its own keys. */
@Module({ controllers: [PrivacyController], providers: [AccountArchive] })
export class PrivacyModule {}

/** The same, to operators. */
@Module({ controllers: [PrivacyAdminController], providers: [AccountArchive] })
export class PrivacyAdminModule {}
