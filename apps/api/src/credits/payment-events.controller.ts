import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { PaymentsService } from '@millrace/billing';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { addressOf, readBytes } from '../http';
import { receiveStripeEvent } from './top-ups.endpoints';

/** Far above any event that Stripe sends. */
const MAX_EVENT_BYTES = 1_048_576;

/** Events that the payment provider sends. */
@Controller()
export class PaymentEventsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly audit: AuditLog,
  ) {}

  @Serves(receiveStripeEvent)
  async receive({ request }: InputOf<typeof receiveStripeEvent>): Promise<AnswerOf<typeof receiveStripeEvent>> {
    const body = await readBytes(request, MAX_EVENT_BYTES);
    const provider = { actor: 'stripe', address: addressOf(request) };
    await this.payments.receive(body, request.get('stripe-signature'), (tx, act) =>
      this.audit.append(tx, provider, act),
    );
    return { received: true };
  }
}
