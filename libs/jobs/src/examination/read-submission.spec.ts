import type { Refusal } from '@millrace/contracts';
import { readSubmission } from './read-submission.step';

function refusalOf(text: string): Refusal {
  try {
    readSubmission(Buffer.from(text));
  } catch (error) {
    return error as Refusal;
  }
  throw new Error('it was read');
}

describe('a body that is refused', () => {
  it('because it is nested too deep is not called invalid JSON, which it may not be', () => {
    const { status, message } = refusalOf(`{"workflow": ${'['.repeat(200)}${']'.repeat(200)}}`);
    expect(status).toBe(400);
    expect(message).toMatch(/^The JSON text is nested deeper than 128 levels, which is the limit;/);
  });

  it('because it is no JSON is called so', () => {
    expect(refusalOf('{"workflow": ').message).toMatch(/^The body is not valid JSON\. Expected /);
  });
});
