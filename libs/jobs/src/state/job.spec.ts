import { scopeText, type JobScope } from './job';

const scope: JobScope = { accountId: 'a', surface: 'cloud', deploymentId: null, labels: null };

describe('the text of a scope', () => {
  it('is the same for the same labels in another order', () => {
    const labels = { user: 'ada', team: 'x' };
    expect(scopeText({ ...scope, labels })).toBe(scopeText({ ...scope, labels: { team: 'x', user: 'ada' } }));
  });

  it('is another one for each scope, so that what was read for one is shown in no other', () => {
    const scopes: JobScope[] = [
      scope,
      { ...scope, accountId: 'b' },
      { ...scope, surface: 'deployment', deploymentId: 'd' },
      { ...scope, labels: { user: 'ada' } },
      { ...scope, labels: { user: 'bob' } },
      { ...scope, labels: { user: 'ada', team: 'x' } },
      { ...scope, labels: { user: 'ada,team=x' } },
      { ...scope, labels: { user: 'ada', team: 'x,y=z' } },
      { ...scope, labels: { 'user.ada': '' } },
    ];
    expect(new Set(scopes.map(scopeText)).size).toBe(scopes.length);
  });
});
