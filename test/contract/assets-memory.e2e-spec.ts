import { randomBytes } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { BOOT_MS, STORES, startAssetStack, type AssetStack } from './support/asset-stack';
import { answerTo, beginUpload, formOf, partsOf } from './support/multipart';

const MIB = 1024 * 1024;
const UPLOAD_BYTES = 100 * MIB;
const SAMPLE_MS = 20;
const MARK = 'the file is here';

let world: AssetStack;
afterEach(() => world.stack.stop());

/** What the process itself says that it holds. */
async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${world.stack.api.opsUrl}/metrics`)).text();
  const line = /^process_resident_memory_bytes\S* (\S+)$/m.exec(text);
  if (line === null) throw new Error('the metrics lack the resident memory');
  return Number(line[1]);
}

/** Sends as fast as the service takes it; every piece is new, so that nothing can be held once for all of them. */
async function sendFile(request: ClientRequest, form: ReturnType<typeof formOf>): Promise<void> {
  const [before = '', after = ''] = form.body.toString('latin1').split(MARK);
  request.write(Buffer.from(before, 'latin1'));
  for (let sent = 0; sent < UPLOAD_BYTES; sent += MIB) {
    if (!request.write(randomBytes(MIB))) await new Promise((drained) => request.once('drain', drained));
  }
  request.end(Buffer.from(after, 'latin1'));
}

describe.each(STORES)('an upload into %s', (store) => {
  it(
    'of 100 MB, the first that a process takes, grows it by less than 32 MB',
    async () => {
      world = await startAssetStack(store, { MILLRACE_MAX_UPLOAD_BYTES: String(UPLOAD_BYTES) }, 0);
      const before = await residentBytes();
      let peak = before;
      let over = false;
      const watching = (async () => {
        while (!over) {
          peak = Math.max(peak, await residentBytes());
          await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
        }
      })();
      const form = formOf(partsOf(Buffer.from(MARK)));
      const request = beginUpload(world.stack.publicUrl, form, { authorization: `Bearer ${world.account.apiKey}` });
      const answer = answerTo(request);
      await sendFile(request, form);
      const { status, text } = await answer;
      over = true;
      await watching;
      expect([status, (JSON.parse(text) as { size_bytes: number }).size_bytes]).toEqual([201, UPLOAD_BYTES]);
    },
    BOOT_MS,
  );
});
