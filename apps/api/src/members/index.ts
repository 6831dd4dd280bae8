export { MembersModule } from './members.module';
