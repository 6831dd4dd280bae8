export { ReceiverClient, type SendResult } from './receiver-client';
