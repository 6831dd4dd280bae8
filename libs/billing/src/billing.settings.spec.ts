import { readSettings } from '@millrace/platform';
import { billingSettings, holdMicrosOf } from './billing.settings';

const holdOf = (value: string | undefined, price: bigint): bigint =>
  holdMicrosOf(readSettings(billingSettings, value === undefined ? {} : { MILLRACE_HOLD_MICROS: value }), price);

describe('what a submission holds', () => {
  it('is above zero exactly where something is charged: caps and credits are checked by it', () => {
    expect(holdOf('1', 1_000n)).toBe(1n);
    expect(holdOf(undefined, 1n)).toBe(600n);
    expect(holdOf('1', 0n)).toBe(0n);
    expect(() => holdOf('0', 1_000n)).toThrow(/MILLRACE_HOLD_MICROS.*1/);
  });
});
