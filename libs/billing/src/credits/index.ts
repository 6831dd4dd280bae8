export { CreditsService, type Adjustment } from './credits.service';
export { ExpireCreditsLoop } from './expire-credits.loop';
export { LotStore } from './lot.store';
export { afterDraws, drawFrom, expiring, type Draw, type Lot } from './lots';
