import { Places } from './places';

const account = (accountId: string) => ({ accountId });

describe('the places in which daily files are written', () => {
  it('go on behind the account that had its turn last', () => {
    const places = new Places();
    const claimed = ['a', 'b', 'c', 'd', 'e', 'f'].map(account);
    const room = places.room('quick');
    for (const { accountId } of claimed) places.begin(accountId, 'quick');
    places.turn(room, claimed);
    expect(places.room('quick')).toMatchObject({ limit: 0, after: 'f' });
  });

  it('begin from the first account again once all had their turn', () => {
    const places = new Places();
    places.turn(places.room('quick'), [account('a')]);
    expect(places.room('quick').after).toBeNull();
  });
});
