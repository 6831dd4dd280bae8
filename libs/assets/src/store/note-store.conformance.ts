import type { BlobStore } from './blob-store';

/** What the `notes` of every BlobStore must do. */
export function describeNoteStore(name: string, open: () => Promise<BlobStore>): void {
  describe(`the notes of ${name}`, () => {
    let store: BlobStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const listed = async (folder: string): Promise<string[]> => {
      const names: string[] = [];
      for await (const note of store.notes.list(folder)) {
        expect(Math.abs(note.modifiedAt.getTime() - Date.now())).toBeLessThan(600_000);
        names.push(note.name);
      }
      return names.sort();
    };

    it('are kept by their names, replaced whole, and listed by folder', async () => {
      expect(await listed('of/')).toEqual([]);
      await store.notes.put('of/one/a', 'first');
      await store.notes.put('of/one/a', 'größer');
      await store.notes.put('of/two/b', 'second');
      await store.notes.put('else/c', 'third');
      expect(await store.notes.get('of/one/a')).toBe('größer');
      expect(await store.notes.get('of/one/none')).toBeNull();
      expect(await listed('of/')).toEqual(['of/one/a', 'of/two/b']);
      expect(await listed('of/one/')).toEqual(['of/one/a']);
    });

    it('are gone when they are deleted, which can be repeated', async () => {
      await store.notes.put('gone/a', 'text');
      await store.notes.delete('gone/a');
      await store.notes.delete('gone/a');
      expect([await store.notes.get('gone/a'), await listed('gone/')]).toEqual([null, []]);
    });

    it('are no blobs, and nothing that was left behind', async () => {
      await store.notes.put('apart/a', 'text');
      for await (const { key } of store.list()) throw new Error(`${key} is listed`);
      for await (const { name: left } of store.stagedBefore(new Date(Date.now() + 600_000))) {
        throw new Error(`${left} was left behind`);
      }
    });
  });
}
