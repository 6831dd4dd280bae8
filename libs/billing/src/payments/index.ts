export { CollectOwedCreditsLoop } from './collect-owed-credits.loop';
export { type Checkout, type PaymentProvider } from './payment-provider';
export { paymentProviderOf, paymentSettings, type PaymentSettings } from './payment.settings';
export { PaymentsService, type PaymentAct } from './payments.service';
export { TopUpStore } from './top-up.store';
export { TOP_UP_STATUSES, type PaymentNotice, type TopUp } from './top-up';
export { TopUpsService, type TopUpTerms } from './top-ups.service';
