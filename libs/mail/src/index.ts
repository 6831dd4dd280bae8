export { composeMailDelivery, composeMailOutbox } from './composition';
export { type DeveloperMails, type Mail, type MailNotice, type MoneyMails } from './mail';
export { MailOutbox } from './mail-outbox';
export { mailSettings } from './mail.settings';
