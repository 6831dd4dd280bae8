import {
  forgetView,
  isSameSearch,
  readViews,
  saveView,
  type ViewStorage,
} from '../../apps/console/src/jobs/saved-views';

function storageWith(text: string | null): ViewStorage {
  let stored = text;
  return { getItem: () => stored, setItem: (_key, value) => void (stored = value) };
}

describe('saved views', () => {
  it('are kept by name, replaced and forgotten', () => {
    const storage = storageWith(null);
    saveView({ name: 'failed', search: { status: 'failed' } }, storage);
    saveView({ name: 'by ada', search: { label: ['user=ada'] } }, storage);
    saveView({ name: 'failed', search: { status: 'failed', since: '24h' } }, storage);
    expect(readViews(storage)).toEqual([
      { name: 'by ada', search: { label: ['user=ada'] } },
      { name: 'failed', search: { status: 'failed', since: '24h' } },
    ]);
    expect(forgetView('by ada', storage).map(({ name }) => name)).toEqual(['failed']);
    expect(readViews(storage)).toHaveLength(1);
  });

  it.each(['{', '7', '[1, null, {"name": 3}]', '{"name":"a"}'])('are none where the storage holds %s', (text) => {
    expect(readViews(storageWith(text))).toEqual([]);
  });

  it('are read as an address is: what is no filter is left out', () => {
    const storage = storageWith('[{"name":"a","search":{"status":"gone","label":["x"],"since":"7d","more":1}}]');
    expect(readViews(storage)).toEqual([{ name: 'a', search: { since: '7d' } }]);
  });

  it('are the same for the same filters', () => {
    expect(isSameSearch({ label: ['a=1', 'b=2'] }, { label: ['b=2', 'a=1'] })).toBe(true);
    expect(isSameSearch({ status: 'failed' }, {})).toBe(false);
  });
});
