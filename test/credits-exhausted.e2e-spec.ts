import { ApiClient, TestStack } from '@millrace/testing';

/** In micro-credits: a run of 2.5 s is all that the account can pay for, and a quarter of it is more than a hold. */
const PRICE = 100_000;
const HOLD = 100_000;
const CREDITS = 250_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await TestStack.start({
    settings: {
      MILLRACE_PRICE_MICROS_PER_SECOND: String(PRICE),
      MILLRACE_HOLD_MICROS: String(HOLD),
      // Renewed every few seconds, which is when credits are counted; a machine that stands still for a moment loses none.
      MILLRACE_LEASE_SECONDS: '15',
    },
  });
});
afterAll(() => stack.stop());

interface Transaction {
  kind: string;
  available_micros: number;
  held_micros: number;
}

it('a run that outlives all the credits of its account is stopped, and is charged exactly what there was', async () => {
  const { apiKey } = await stack.createAccount(CREDITS);
  const client = new ApiClient(stack.publicUrl, apiKey);
  const inputs = { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 };
  const graph = {
    '1': { class_type: 'MillraceReactionDiffusion', inputs },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
  };
  const { id } = await client.run(graph);
  const ended = await client.ended(id);
  expect(ended).toMatchObject({
    status: 'failed',
    outputs: [],
    error: { code: 'credits_exhausted' },
    metrics: { charged_micros: CREDITS },
  });

  const balance = await client.call<object>('GET', '/platform/v1/credits');
  expect(balance.body).toEqual({ available_micros: 0, held_micros: 0 });
  const ledger = await client.call<{ transactions: Transaction[] }>('GET', '/platform/v1/credits/ledger');
  const changes = ledger.body.transactions.reverse().map((row) => [row.kind, row.available_micros, row.held_micros]);
  expect(changes).toEqual([
    ['grant', CREDITS, 0],
    ['hold', -HOLD, HOLD],
    ['extend_hold', HOLD - CREDITS, CREDITS - HOLD],
    ['settle', 0, -CREDITS],
  ]);
  const again = await client.submit(JSON.stringify({ workflow: graph }));
  expect([again.status, (again.body as { error?: { code?: string } }).error?.code]).toEqual([
    402,
    'insufficient_credits',
  ]);
  expect(await stack.admin<object>('GET', '/audit')).toMatchObject({ findings: [] });
});
