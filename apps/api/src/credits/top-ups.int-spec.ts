import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Prisma } from '@prisma/client';
import { composeBilling } from '@millrace/billing';
import { Metrics, createLogger } from '@millrace/platform';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { StripeStandIn } from '../fixtures/stripe-stand-in';

const TOP_UPS = '/platform/v1/top-ups';
const WEBHOOK = '/platform/v1/webhooks/stripe';
const BACK = 'https://shop.example/credits?tab=2';
const GRANTED = 100_000_000;

interface TopUp {
  id: string;
  status: string;
  amount_micros: number;
  price_minor: number;
  currency: string;
  checkout_url: string | null;
  paid_at: string | null;
}

let stripe: StripeStandIn;
let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  stripe = await StripeStandIn.open();
  api = await RunningApi.open(stripe.env);
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(async () => {
  stripe.status = 200;
  account = await api.account();
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

const create = (json: object, key = account.key) => api.client(key).call<TopUp>('POST', TOP_UPS, { json });
const open = async (credits = 20): Promise<TopUp> => (await create({ credits, return_url: BACK })).body;
const read = async (id: string): Promise<TopUp> =>
  (await api.client(account.key).call<TopUp>('GET', `${TOP_UPS}/${id}`)).body;
const available = async (): Promise<number> =>
  (await api.client(account.key).call<{ available_micros: number }>('GET', '/platform/v1/credits')).body
    .available_micros;
const deliver = ({ text, signature }: { text: string; signature: string }) =>
  api.client(null).call('POST', WEBHOOK, { text, headers: { 'Stripe-Signature': signature } });
const send = async (type: string, object: object, id?: string): Promise<void> => {
  expect((await deliver(stripe.event(type, object, id))).status).toBe(200);
};
const findings = async (): Promise<unknown[]> =>
  (await api.operator().call<{ findings: unknown[] }>('GET', '/admin/v1/audit')).body.findings;
const acts = async (): Promise<{ action: string; actor: string; details: Record<string, unknown> }[]> =>
  (
    await api
      .operator()
      .call<{ entries: { action: string; actor: string; details: Record<string, unknown> }[] }>(
        'GET',
        `/admin/v1/audit-log?account_id=${account.id}`,
      )
  ).body.entries.filter(({ action }) => action.startsWith('top_up.'));

/** The checkout of a top-up, as Stripe sends it when it is paid. */
const session = (topUp: TopUp, more: object = {}): object => ({
  id: `cs_test_${topUp.id}`,
  object: 'checkout.session',
  mode: 'payment',
  payment_status: 'paid',
  amount_total: topUp.price_minor,
  currency: topUp.currency,
  payment_intent: `pi_${topUp.id}`,
  client_reference_id: topUp.id,
  metadata: { millrace_top_up: topUp.id },
  ...more,
});
const refund = (topUp: TopUp, amount: number, more: object = {}): object => ({
  id: `re_${topUp.id}`,
  object: 'refund',
  amount,
  currency: topUp.currency,
  status: 'succeeded',
  payment_intent: `pi_${topUp.id}`,
  ...more,
});
const COMPLETED = 'checkout.session.completed';

describe('buying credits', () => {
  it('opens a checkout of exactly what was asked for, and returns where it is paid', async () => {
    const { status, body } = await create({ credits: 20, return_url: BACK });
    const asked = stripe.asked.at(-1);
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'open', amount_micros: 20_000_000, price_minor: 2_000, currency: 'usd' });
    expect(body.checkout_url).toBe(`https://checkout.example/${asked?.id}`);
    expect(asked).toMatchObject({ authorization: 'Bearer sk_test_of_a_test', idempotencyKey: body.id });
    expect(Object.fromEntries(asked?.form ?? [])).toMatchObject({
      mode: 'payment',
      'metadata[millrace_top_up]': body.id,
      'metadata[millrace_account]': account.id,
      'metadata[millrace_micros]': '20000000',
      'metadata[millrace_price_minor]': '2000',
      'metadata[millrace_currency]': 'usd',
      'payment_intent_data[metadata][millrace_top_up]': body.id,
      'payment_intent_data[metadata][millrace_account]': account.id,
      'payment_intent_data[metadata][millrace_micros]': '20000000',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][unit_amount]': '2000',
      'line_items[0][price_data][currency]': 'usd',
      'adaptive_pricing[enabled]': 'false',
      success_url: `${BACK}&top_up=${body.id}`,
      cancel_url: `${BACK}&top_up=${body.id}`,
    });
    expect(await available()).toBe(GRANTED);
  });

  it('is refused for too few or too many credits, and for a page that is none', async () => {
    for (const credits of [4, 5_001]) {
      const { status, text } = await create({ credits, return_url: BACK });
      expect([status, text]).toEqual([422, expect.stringContaining('from 5 to 5000')]);
    }
    expect((await create({ credits: 20, return_url: 'javascript:alert(1)' })).text).toContain('return_url');
  });

  it('fails as anything behind the service does when Stripe is out of order, and charges nothing', async () => {
    stripe.status = 402;
    const { status, text } = await create({ credits: 20, return_url: BACK });
    expect([status, text]).toEqual([500, expect.stringContaining('upstream_error')]);
    expect(text).not.toContain('out of order');
  });

  it('may be begun a hundred times an hour without paying', async () => {
    const row = { accountId: account.id, provider: 'stripe', amountMicros: 1n, priceMinor: 1n, currency: 'usd' };
    const ids = Array.from({ length: 100 }, () => crypto.randomUUID());
    await api.test.database.models.topUp.createMany({ data: ids.map((id) => ({ ...row, id })) });
    const { status, headers } = await create({ credits: 20, return_url: BACK });
    expect([status, headers['retry-after']]).toEqual([429, '3600']);
  });

  it('shows another account nothing of it, and needs credits:write', async () => {
    const topUp = await open();
    const other = await api.account({ scopes: ['usage:read'] });
    expect((await api.client(other.key).call('GET', `${TOP_UPS}/${topUp.id}`)).status).toBe(404);
    expect((await create({ credits: 20, return_url: BACK }, other.key)).text).toContain(
      '"details":{"scope":"credits:write"}',
    );
  });
});

describe('a paid checkout', () => {
  it('adds the credits once, in the ledger, on the statement and in the audit log', async () => {
    const topUp = await open();
    const event = stripe.event(COMPLETED, session(topUp));
    expect(await deliver(event)).toMatchObject({ status: 200, body: { received: true } });
    expect(await read(topUp.id)).toMatchObject({ status: 'paid', checkout_url: null });
    expect(await available()).toBe(GRANTED + 20_000_000);
    expect(await acts()).toMatchObject([
      { action: 'top_up.pay', actor: 'stripe', details: { amountMicros: 20_000_000 } },
    ]);
    const month = new Date().toISOString().slice(0, 7);
    const statement = await api.client(account.key).call<object>('GET', `/platform/v1/statements/${month}`);
    expect(statement.body).toMatchObject({ top_ups_micros: 20_000_000, grants_micros: GRANTED });
    expect(await findings()).toEqual([]);
  });

  it('is reported again and again, to several processes at once and by other events, and counts once', async () => {
    const topUp = await open();
    const same = stripe.event(COMPLETED, session(topUp));
    const other = stripe.event('checkout.session.async_payment_succeeded', session(topUp));
    const answers = await Promise.all([same, same, other, same, other, same].map(deliver));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    await deliver(same);
    expect(await available()).toBe(GRANTED + 20_000_000);
    expect(await acts()).toHaveLength(1);
    expect(await findings()).toEqual([]);
  });

  it('whose money comes later counts when it comes, or ends when it does not', async () => {
    const [late, never] = [await open(), await open()];
    for (const topUp of [late, never]) await send(COMPLETED, session(topUp, { payment_status: 'unpaid' }));
    expect([(await read(late.id)).status, await available()]).toEqual(['open', GRANTED]);
    await send('checkout.session.async_payment_succeeded', session(late));
    await send('checkout.session.async_payment_failed', session(never, { payment_status: 'unpaid' }));
    expect([(await read(late.id)).status, (await read(never.id)).status]).toEqual(['paid', 'failed']);
    expect(await available()).toBe(GRANTED + 20_000_000);
  });

  it('stays paid when an older event comes after it, and wins over one that came before', async () => {
    const topUp = await open();
    await send('checkout.session.expired', session(topUp, { payment_status: 'unpaid', amount_total: null }));
    expect((await read(topUp.id)).status).toBe('expired');
    await send(COMPLETED, session(topUp));
    await send('checkout.session.expired', session(topUp));
    await send('checkout.session.async_payment_failed', session(topUp));
    expect([(await read(topUp.id)).status, await available()]).toEqual(['paid', GRANTED + 20_000_000]);
  });

  it.each([
    ['another amount', { amount_total: 1_999 }],
    ['more', { amount_total: 2_001 }],
    ['another currency', { currency: 'jpy' }],
    ['an unknown amount', { amount_total: null }],
  ])('of %s adds nothing, and is reported to operators', async (_, paid) => {
    const topUp = await open();
    await send(COMPLETED, session(topUp, paid));
    expect([(await read(topUp.id)).status, await available()]).toEqual(['refused', GRANTED]);
    expect(await acts()).toMatchObject([{ action: 'top_up.refuse', actor: 'stripe' }]);
  });

  it('of an order that a restore has lost adds the credits once, by what Stripe keeps of the order', async () => {
    const topUp = await open();
    const kept = [...(stripe.asked.at(-1)?.form ?? [])].flatMap(([name, value]) => {
      const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value] as const];
    });
    await api.test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(Prisma.sql`DELETE FROM top_ups WHERE id = ${topUp.id}::uuid`);
    });
    const event = stripe.event(COMPLETED, session(topUp, { metadata: Object.fromEntries<string>(kept) }));
    for (let time = 0; time < 2; time += 1) expect((await deliver(event)).status).toBe(200);
    expect([(await read(topUp.id)).status, await available()]).toEqual(['paid', GRANTED + 20_000_000]);
    expect(await findings()).toEqual([]);
  });

  it('of something else that is sold there, or of another installation, is acknowledged and adds nothing', async () => {
    const topUp = await open();
    await send(COMPLETED, session(topUp, { metadata: {} }));
    await send(COMPLETED, session(topUp, { metadata: { millrace_top_up: crypto.randomUUID() } }));
    await send('customer.created', { id: 'cus_1', object: 'customer' });
    expect([(await read(topUp.id)).status, await available()]).toEqual(['open', GRANTED]);
  });
});

describe('money that goes back', () => {
  const paid = async (): Promise<TopUp> => {
    const topUp = await open();
    await send(COMPLETED, session(topUp));
    return topUp;
  };

  it('takes the same share of the credits with it, each refund once', async () => {
    const topUp = await paid();
    await send('refund.created', refund(topUp, 500));
    await send('refund.updated', refund(topUp, 500));
    expect(await available()).toBe(GRANTED + 15_000_000);
    await send('refund.created', refund(topUp, 1_500, { id: 're_rest' }));
    await send('charge.dispute.funds_withdrawn', { ...refund(topUp, 2_000), id: 'dp_1', status: 'lost' });
    expect(await available()).toBe(GRANTED);
    expect((await acts()).map(({ action }) => action)).toContain('top_up.reverse');
    expect(await findings()).toEqual([]);
  });

  it('before its payment is reported is recorded', async () => {
    const topUp = await open();
    await send('refund.created', refund(topUp, 500));
    expect(await available()).toBe(GRANTED);
    await send(COMPLETED, session(topUp));
    expect(await available()).toBe(GRANTED + 15_000_000);
    expect(await findings()).toEqual([]);
  });

  it('at the moment at which its payment is reported is not missed', async () => {
    for (let round = 0; round < 5; round += 1) {
      const topUp = await open();
      const before = await available();
      await Promise.all([
        send(COMPLETED, session(topUp)),
        send('refund.created', refund(topUp, 2_000)),
        send('refund.updated', refund(topUp, 2_000)),
      ]);
      expect(await available()).toBe(before);
    }
    expect(await findings()).toEqual([]);
  });

  it('and comes again brings the credits again: a dispute that was won, a refund that failed', async () => {
    const [disputed, refunded] = [await paid(), await paid()];
    const dispute = { ...refund(disputed, 2_000), id: `dp_${disputed.id}` };
    await send('charge.dispute.created', dispute);
    expect(await available()).toBe(GRANTED + 40_000_000);
    await send('charge.dispute.funds_withdrawn', dispute);
    await send('refund.created', refund(refunded, 2_000, { status: 'pending' }));
    expect(await available()).toBe(GRANTED);
    await send('charge.dispute.funds_reinstated', dispute);
    await send('refund.failed', refund(refunded, 2_000, { status: 'failed' }));
    // Older events that come late change nothing any more.
    await send('charge.dispute.funds_withdrawn', dispute);
    await send('refund.updated', refund(refunded, 2_000, { status: 'pending' }));
    expect(await available()).toBe(GRANTED + 40_000_000);
    expect(await findings()).toEqual([]);
  });

  it('takes what there is, and the rest when a job gives it back', async () => {
    const topUp = await paid();
    const adjustment = { amount_micros: -GRANTED, reason: 'only what was bought is left' };
    await api.operator().call('POST', `/admin/v1/accounts/${account.id}/credits`, { json: adjustment });
    const job = await api.client(account.key).run(GRAPH);
    const left = await available();
    expect(left).toBeLessThan(20_000_000);
    await send('refund.created', refund(topUp, 2_000));
    expect(await available()).toBe(0);
    expect((await acts())[0]?.details).toMatchObject({ changedMicros: -left, owedMicros: 20_000_000 - left });
    await api.client(account.key).call('POST', `/api/v2/jobs/${job.id}/cancel`);
    expect(await available()).toBe(20_000_000 - left);
    await runLoop('collect-owed-credits');
    expect(await available()).toBe(0);
    const row = await api.test.database.models.topUp.findUniqueOrThrow({ where: { id: topUp.id } });
    expect(row.owedMicros).toBe(0n);
    expect(await findings()).toEqual([]);
  });
});

/** Run a chore of the maintenance process once. */
async function runLoop(name: string): Promise<void> {
  const parts = { logger: createLogger('test', 'fatal'), metrics: new Metrics('test') };
  const settings = { jobExecutionDeadlineSeconds: 86_400 };
  const { loops } = composeBilling({ ...parts, database: api.test.database, settings });
  await loops.find((loop) => loop.name === name)?.runOnce();
}

describe('an event', () => {
  it('counts only when Stripe has signed exactly its bytes, and lately', async () => {
    const topUp = await open();
    const { text, signature } = stripe.event(COMPLETED, session(topUp));
    const stale = Math.floor(Date.now() / 1000) - 600;
    const forgeries = [
      { text: text.replace('"paid"', '"paid" '), signature },
      { text, signature: stripe.sign(text, 'whsec_of_somebody') },
      { text, signature: stripe.sign(text, undefined, stale) },
      { text, signature: 'nonsense' },
    ];
    for (const forgery of forgeries) {
      expect(await deliver(forgery)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    }
    expect((await api.client(account.key).call('POST', WEBHOOK, { text })).status).toBe(400);
    expect([(await read(topUp.id)).status, await available()]).toEqual(['open', GRANTED]);
    await deliver({ text, signature: stripe.sign(text, 'whsec_of_before') });
    expect((await read(topUp.id)).status).toBe('paid');
  });

  it('about money that is not of its shape fails, so that it is delivered again', async () => {
    const { text, signature } = stripe.event('refund.created', { id: 're_1', amount: '12' });
    expect((await deliver({ text, signature })).status).toBe(500);
  });
});

it('an event without a signature is refused before its body has arrived', async () => {
  const sending = request(new URL(WEBHOOK, api.publicUrl), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
  });
  sending.on('error', () => undefined);
  sending.write('{');
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(400);
  sending.destroy();
});

it('events that never arrive whole take nothing from the bodies of tenants', async () => {
  const small = await RunningApi.open({
    ...stripe.env,
    MILLRACE_BODY_BYTES_IN_FLIGHT: '1048576',
    MILLRACE_BODY_BYTES_IN_FLIGHT_PER_ACCOUNT: '1048576',
  });
  await announceCatalogue(small, small.env.MILLRACE_POOL ?? '');
  const { key } = await small.account();
  const sending = Array.from({ length: 8 }, () => {
    const one = request(new URL(WEBHOOK, small.publicUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': '262144', 'Stripe-Signature': 't=1,v1=x' },
    });
    one.on('error', () => undefined);
    one.write(' '.repeat(125_000));
    return one;
  });
  try {
    const graph = { '1': { class_type: 'PrimitiveString', inputs: { value: 'x'.repeat(500_000) } } };
    const large = (): Promise<{ status: number }> =>
      small.client(key).call('POST', '/api/v2/jobs', { text: JSON.stringify({ workflow: graph }) });
    for (let round = 0; round < 5; round += 1) expect((await large()).status).not.toBe(429);
    // They share one address, which may have so many bytes of events in memory and no more.
    const { text, signature } = stripe.event('customer.created', { padding: 'x'.repeat(200_000) });
    const headers = { 'Stripe-Signature': signature };
    const answer = await small.client(null).call('POST', WEBHOOK, { text, headers });
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
  } finally {
    for (const one of sending) one.destroy();
    await small.close();
  }
});

it('without a provider nothing is sold, and the answer says so', async () => {
  const plain = await RunningApi.open();
  try {
    const { key } = await plain.account();
    const asked = await plain.client(key).call('POST', TOP_UPS, { json: { credits: 20, return_url: BACK } });
    expect(asked).toMatchObject({ status: 422, body: { error: { code: 'payments_not_configured' } } });
    const { text, signature } = stripe.event(COMPLETED, {});
    const headers = { 'Stripe-Signature': signature };
    const answer = await plain.client(null).call('POST', WEBHOOK, { text, headers });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'payments_not_configured' } } });
  } finally {
    await plain.close();
  }
});
