import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AuditLog } from '@millrace/accounts';
import { PaymentsService } from '@millrace/billing';
import { readBytes } from '../http/body';
import { addressOf } from '../http/client-address';
import { Serves, defineEndpoint, type Door, type InputOf } from '../endpoints/endpoint';

/** Far above any event that Stripe sends. */
const MAX_EVENT_BYTES = 1_048_576;

const receiveStripeEvent = defineEndpoint({
  id: 'receiveStripeEvent',
  method: 'post',
  path: '/platform/v1/webhooks/stripe',
  tag: 'credits',
  proof: 'For Stripe alone: the `Stripe-Signature` header must sign the body with the secret of the endpoint.',
  summary: 'Take in an event of Stripe',
  description:
    'The endpoint for webhooks at Stripe. Each event counts once, in whatever order they come; kinds that mean nothing here ' +
    'are acknowledged.',
  answer: {
    status: 200,
    description: 'The event is taken in.',
    schema: z.object({ received: z.literal(true) }).meta({ id: 'Received', description: 'An acknowledgement.' }),
  },
  errors: ['payments_not_configured', 'payload_too_large', 'unsupported_media_type'],
});

/** Whoever comes is looked at by the signature of what they bring. */
const openDoor: Door<object> = { admit: () => Promise.resolve({}) };

/** What payment providers tell. */
@Controller()
export class PaymentEventsController {
  readonly door = openDoor;

  constructor(
    @Inject(PaymentsService) private readonly payments: PaymentsService,
    @Inject(AuditLog) private readonly audit: AuditLog,
  ) {}

  @Serves(receiveStripeEvent)
  async receive({ request }: InputOf<typeof receiveStripeEvent>): Promise<object> {
    const body = await readBytes(request, MAX_EVENT_BYTES);
    const provider = { actor: 'stripe', address: addressOf(request) };
    await this.payments.receive(body, request.get('stripe-signature'), (tx, act) =>
      this.audit.append(tx, provider, act),
    );
    return { received: true };
  }
}
