import { z } from 'zod';
import { defineEndpoint, recordId } from '../endpoints';
import { TopUpCreateSchema, TopUpSchema } from './top-up.schemas';

export const createTopUp = defineEndpoint({
  id: 'createTopUp',
  method: 'post',
  path: '/platform/v1/top-ups',
  creates: '/platform/v1/top-ups/{id}',
  tag: 'credits',
  access: { by: 'api_key', scope: 'credits:write' },
  summary: 'Buy credits',
  description:
    'Opens a page of the payment provider; send the payer to `checkout_url`. The credits are added when the provider ' +
    'reports the payment. Opening the page charges nothing.',
  body: TopUpCreateSchema,
  answers: { 201: { description: 'The top-up is open.', schema: TopUpSchema } },
  errors: ['payments_not_configured'],
});

export const getTopUp = defineEndpoint({
  id: 'getTopUp',
  method: 'get',
  path: '/platform/v1/top-ups/{id}',
  params: { id: recordId('top-up') },
  tag: 'credits',
  access: { by: 'api_key', scope: 'usage:read' },
  summary: 'Read a top-up',
  description: 'Whether it is paid.',
  answers: { 200: { description: 'The top-up.', schema: TopUpSchema } },
});

export const receiveStripeEvent = defineEndpoint({
  id: 'receiveStripeEvent',
  method: 'post',
  path: '/platform/v1/webhooks/stripe',
  tag: 'credits',
  access: { by: 'signed_body' },
  summary: 'Receive an event of Stripe',
  description:
    'The endpoint for webhooks at Stripe. Each event counts once, in any order of arrival; events of kinds that are not used ' +
    'here are acknowledged. A payment whose order and account were lost in a restore is answered with an error, so that it is sent again.\n\n' +
    'For Stripe alone: the `Stripe-Signature` header must sign the body with the secret of the endpoint.',
  answers: {
    200: {
      description: 'The event was received.',
      schema: z.object({ received: z.literal(true) }).meta({ id: 'Received', description: 'An acknowledgement.' }),
    },
  },
  errors: ['not_found', 'payments_not_configured', 'payload_too_large', 'unsupported_media_type'],
});
