import { Module } from '@nestjs/common';
import { OperatorSessionsAdminController } from './operator-sessions.admin-controller';
import { SessionsController } from './sessions.controller';
import { SignInLinksAdminController } from './sign-in-links.admin-controller';
import { SignInMailsController } from './sign-in-mails.controller';
import { SignInService } from './sign-in.service';

@Module({ controllers: [SessionsController, SignInMailsController], providers: [SignInService] })
export class SessionsModule {}

@Module({ controllers: [SignInLinksAdminController, OperatorSessionsAdminController] })
export class SessionsAdminModule {}
