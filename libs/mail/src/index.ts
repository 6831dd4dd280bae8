export { composeMailDelivery, composeMailOutbox } from './composition';
export { type Mail, type MoneyMails } from './mail';
export { MailOutbox } from './mail-outbox';
export { mailSettings } from './mail.settings';
