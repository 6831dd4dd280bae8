export { SessionsAdminModule, SessionsModule } from './sessions.module';
