export { CollectOwedCreditsLoop } from './collect-owed-credits.loop';
export { type PaymentProvider } from './payment-provider';
export { paymentProviderOf, paymentSettings } from './payment.settings';
export { PaymentsService } from './payments.service';
export { TopUpStore } from './top-up.store';
export { TOP_UP_STATUSES, type PaymentNotice, type TopUp } from './top-up';
export { TopUpsService, type TopUpTerms } from './top-ups.service';
