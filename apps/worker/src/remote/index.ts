export { isRemote, openRemoteAccess } from './remote-access';
