import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { PaymentsService } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import { BodiesInFlight } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { addressOf, contextOf, readBytes } from '../http';
import { receiveStripeEvent } from './top-ups.endpoints';

/** Far above any event that Stripe sends. Anyone may call: what is not signed is neither waited for nor kept. */
const MAX_EVENT_BYTES = 262_144;
const DEADLINE_MS = 10_000;
/** Events in memory have limits of their own, so that who signs nothing right takes nothing from tenants. */
const BYTES_IN_FLIGHT = 8_388_608;
const BYTES_IN_FLIGHT_PER_ADDRESS = 1_048_576;

/** Events that the payment provider sends. */
@Controller()
export class PaymentEventsController {
  private readonly bodies = new BodiesInFlight({
    bytes: BYTES_IN_FLIGHT,
    bytesPerPayer: BYTES_IN_FLIGHT_PER_ADDRESS,
  });

  constructor(
    private readonly payments: PaymentsService,
    private readonly audit: AuditLog,
  ) {}

  @Serves(receiveStripeEvent)
  async receive({ request }: InputOf<typeof receiveStripeEvent>): Promise<AnswerOf<typeof receiveStripeEvent>> {
    const signature = request.get('stripe-signature');
    this.payments.assertConfigured();
    if (signature === undefined) throw unsigned();
    contextOf(request).bodies = this.bodies;
    const body = await readBytes(request, MAX_EVENT_BYTES, { deadlineMs: DEADLINE_MS });
    const provider = { actor: 'stripe', address: addressOf(request) };
    await this.payments.receive(body, signature, (tx, act) => this.audit.append(tx, provider, act));
    return { received: true };
  }
}

function unsigned(): Refusal {
  return new Refusal('invalid_request', 'There is no Stripe-Signature header.', { status: 400 });
}
