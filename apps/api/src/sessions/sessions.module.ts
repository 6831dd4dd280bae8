import { Module } from '@nestjs/common';
import { SessionsController } from './sessions.controller';
import { SignInLinksAdminController } from './sign-in-links.admin-controller';
import { SignInService } from './sign-in.service';

@Module({ controllers: [SessionsController], providers: [SignInService] })
export class SessionsModule {}

@Module({ controllers: [SignInLinksAdminController] })
export class SessionsAdminModule {}
