import { Refusal, type Scope } from '@millrace/contracts';
import { assertScope, type Caller } from './caller';

function refusalOf(apiKeyId: string | null, scope: Scope): Refusal | null {
  const caller: Pick<Caller, 'apiKeyId' | 'scopes' | 'accountStatus'> = {
    apiKeyId,
    scopes: new Set<Scope>(['jobs:read']),
    accountStatus: 'active',
  };
  try {
    assertScope(caller, scope);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

describe('a scope that a caller has not', () => {
  it('is had by another key, where there are keys', () => {
    expect(refusalOf('k1', 'jobs:read')).toBeNull();
    expect(refusalOf('k1', 'keys:admin')?.message).toBe(
      'This API key lacks the scope keys:admin; use a key that has it.',
    );
  });

  it('is had by nobody where there are no keys: no key is advised', () => {
    expect(refusalOf(null, 'keys:admin')).toMatchObject({
      code: 'forbidden',
      message: 'This surface has no keys, and nothing here has the scope keys:admin.',
    });
  });
});
