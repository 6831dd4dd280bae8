import { Refusal } from '@millrace/contracts';
import { answerOf } from './error-answer';

const sizeOf = (refusal: Refusal): number => Buffer.byteLength(JSON.stringify(answerOf(refusal).body));
const detailsOf = (refusal: Refusal): Record<string, unknown> => answerOf(refusal).body.error.details ?? {};

describe('an error answer', () => {
  it('is the refusal itself while that is small', () => {
    const details = {
      fields: [{ field: 'a', reason: 'b' }],
      node_errors: { '1': [{ field: 'x', reason: 'y' }] },
      n: 3,
    };
    const { body } = answerOf(new Refusal('invalid_request', 'No.', { details }));
    expect(body).toEqual({ error: { code: 'invalid_request', message: 'No.', details } });
  });

  it('is below 64 KB for a list of any length, and says how many items it leaves out', () => {
    const references = Array.from({ length: 300_000 }, () => ({ node_id: 'n'.repeat(500), asset_id: null }));
    const refusal = new Refusal('missing_asset', 'No.', { details: { references } });
    expect(sizeOf(refusal)).toBeLessThan(65_536);
    const { references: kept, left_out: leftOut } = detailsOf(refusal);
    expect(leftOut).toEqual({ references: 300_000 - (kept as object[]).length });
    expect((kept as object[]).length).toBeGreaterThan(50);
  });

  it('is below 64 KB for texts of any length and any characters, names of nodes among them', () => {
    const long = '\u0001\u{1f600}"'.repeat(20_000);
    const fault = { field: long, reason: long, message: long };
    const nodes = Array.from({ length: 100 }, (_, at) => [`${at}${long}`, [fault, fault]]);
    const refusal = new Refusal('invalid_workflow', long, { details: { node_errors: Object.fromEntries(nodes) } });
    expect(sizeOf(refusal)).toBeLessThan(65_536);
    expect(detailsOf(refusal)['left_out']).toEqual({ node_errors: expect.any(Number) as number });
  });

  it('lists the faults of many nodes up to a limit, and counts the others', () => {
    const nodes = Array.from({ length: 5_000 }, (_, at) => [at, [{ field: 'x', reason: 'missing_input' }]]);
    const refusal = new Refusal('invalid_workflow', 'No.', { details: { node_errors: Object.fromEntries(nodes) } });
    const { node_errors: kept, left_out: leftOut } = detailsOf(refusal) as Record<string, Record<string, unknown>>;
    expect(Object.keys(kept ?? {}).length + Number(leftOut?.['node_errors'])).toBe(5_000);
    expect(Object.keys(kept ?? {}).length).toBeGreaterThan(500);
    expect(sizeOf(refusal)).toBeLessThan(65_536);
  });
});
