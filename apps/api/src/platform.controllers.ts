import { AccountController } from './accounts/account.controller';
import { ApiKeysController } from './api-keys/api-keys.controller';
import { CreditsController } from './credits/credits.controller';
import { DeploymentsController } from './deployments/deployments.controller';
import { PaymentEventsController } from './credits/payment-events.controller';
import { TopUpsController } from './credits/top-ups.controller';

/** Whatever the platform API serves; its document is made from these. */
export const PLATFORM_CONTROLLERS = [
  AccountController,
  ApiKeysController,
  CreditsController,
  DeploymentsController,
  TopUpsController,
  PaymentEventsController,
];
