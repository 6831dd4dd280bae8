export { MessagesController } from './messages.controller';
export { WorkersController } from './workers.controller';
