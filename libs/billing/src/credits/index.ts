export { CreditAlertStore } from './credit-alert.store';
export { CreditAlerts } from './credit-alerts.service';
export { CreditsService } from './credits.service';
export { ExpireCreditsLoop } from './expire-credits.loop';
export { LotStore } from './lot.store';
export { afterDraws, byExpiry, drawFrom, expiring, type Lot } from './lots';
