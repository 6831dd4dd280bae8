import { Module } from '@nestjs/common';
import { OperatorSessionsAdminController } from './operator-sessions.admin-controller';
import { SessionsController } from './sessions.controller';
import { SignInLinksAdminController } from './sign-in-links.admin-controller';
import { SignInService } from './sign-in.service';

@Module({ controllers: [SessionsController], providers: [SignInService] })
export class SessionsModule {}

@Module({ controllers: [SignInLinksAdminController, OperatorSessionsAdminController] })
export class SessionsAdminModule {}
