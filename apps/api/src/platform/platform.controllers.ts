import { AccountController } from './account.controller';
import { ApiKeysController } from './api-keys.controller';
import { CreditsController } from './credits.controller';
import { DeploymentsController } from './deployments.controller';
import { PaymentEventsController } from './payment-events.controller';
import { TopUpsController } from './top-ups.controller';

/** Whatever the platform API serves; its document is made from these. */
export const PLATFORM_CONTROLLERS = [
  AccountController,
  ApiKeysController,
  CreditsController,
  DeploymentsController,
  TopUpsController,
  PaymentEventsController,
];
