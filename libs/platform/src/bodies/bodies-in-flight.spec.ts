import { BodiesInFlight } from './bodies-in-flight';

const busy = expect.objectContaining({ code: 'rate_limited', status: 429, retryAfterSeconds: 2 }) as Error;

describe('bodies in flight', () => {
  const open = (): BodiesInFlight => new BodiesInFlight({ bytes: 100, bytesPerPayer: 60 });

  it('are refused above the limit of their payer, and pass when what counts is released', () => {
    const bodies = open();
    bodies.take('a', 40);
    expect(() => bodies.take('a', 21)).toThrow(busy);
    bodies.take('b', 60);
    bodies.release('a', 40);
    bodies.take('a', 40);
  });

  it('are refused above the limit of all together', () => {
    const bodies = open();
    bodies.take('a', 60);
    bodies.take('b', 40);
    expect(() => bodies.take('c', 1)).toThrow(busy);
  });

  it('are not refused for their own size where nothing else is in flight', () => {
    const bodies = open();
    bodies.take('a', 1_000);
    expect(() => bodies.take('b', 1)).toThrow(busy);
    bodies.release('a', 1_000);
    bodies.take('b', 60);
  });

  it('that are there already count, however many: a payer of whom nothing is may begin another, and no other', () => {
    const bodies = open();
    bodies.assertRoom('a');
    bodies.hold('a', 1_000);
    expect(() => bodies.assertRoom('a')).toThrow(busy);
    bodies.assertRoom('b');
    bodies.hold('b', 1);
    // Below its own limit, above that of all.
    expect(() => bodies.assertRoom('b')).toThrow(busy);
    bodies.release('a', 1_000);
    bodies.assertRoom('a');
    bodies.assertRoom('b');
  });
});
