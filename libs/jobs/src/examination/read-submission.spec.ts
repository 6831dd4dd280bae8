import { EXTRA_DATA_LIMITS, type Refusal } from '@millrace/contracts';
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

/** A submission with these credentials. */
const withExtraData = (extraData: Record<string, string>): string =>
  JSON.stringify({ workflow: {}, extra_data: extraData });

describe('credentials', () => {
  const { characters, bytes } = EXTRA_DATA_LIMITS;

  it('of the longest that are forwarded are taken', () => {
    const key = 'k'.repeat(characters);
    const { extraData } = readSubmission(Buffer.from(withExtraData({ api_key_comfy_org: key })));
    expect(extraData).toEqual({ api_key_comfy_org: key });
  });

  it('that are longer are refused by name: they would fill the memory that all accounts share', () => {
    const { status, code, details } = refusalOf(
      withExtraData({ api_key_comfy_org: 'k'.repeat(characters + 1), auth_token_comfy_org: 't' }),
    );
    const reason = `has ${characters + 1} characters; at most ${characters} are forwarded`;
    expect({ status, code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(details).toEqual({ fields: [{ field: 'extra_data.api_key_comfy_org', reason }] });
  });

  it.each([
    ['of many characters', 'k'.repeat(characters)],
    ['of characters that take six bytes each', '\u0001'.repeat(characters / 2)],
  ])('that are too large together, %s, are refused', (_, value) => {
    const all = { api_key_vendor_org: value, api_key_comfy_org: value, auth_token_comfy_org: value };
    const { status, details } = refusalOf(withExtraData(all));
    const taken = Buffer.byteLength(JSON.stringify(all));
    const reason = `has ${taken} bytes as JSON; at most ${bytes} are forwarded`;
    expect({ status, details }).toEqual({ status: 422, details: { fields: [{ field: 'extra_data', reason }] } });
  });
});
