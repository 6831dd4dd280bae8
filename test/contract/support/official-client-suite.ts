import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Comfy,
  Forbidden,
  IdempotencyKeyReuse,
  InvalidWorkflow,
  JobFailed,
  MissingAsset,
  NotFound,
  Unauthorized,
  WorkflowFormatUi,
} from '@comfyorg/sdk';
import sharp from 'sharp';
import { newId } from '@millrace/contracts';

/** A surface as the client is pointed at it. */
export interface ClientTarget {
  baseUrl: string;
  /** The same surface at another process. */
  otherBaseUrl: string;
  apiKey: string | undefined;
  /** False where nobody is asked for a key. */
  asksForKeys: boolean;
}

type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

const growing = (size: number, steps: number): Graph => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: size, height: size, steps, seed: 7, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});
const NUMBER: Graph = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const LOADED: Graph = {
  '1': { class_type: 'LoadImage', inputs: {} },
  '2': { class_type: 'ImageScaleBy', inputs: { image: ['1', 0], upscale_method: 'nearest-exact', scale_by: 2 } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'out' } },
};

/** What the official client offers, against a surface. It reads its address from the environment when it is made. */
export function describeOfficialClient(surface: string, target: () => ClientTarget): void {
  const connect = (baseUrl = target().baseUrl, apiKey = target().apiKey): Comfy => {
    process.env.COMFY_BASE_URL = baseUrl;
    return new Comfy(apiKey === undefined ? {} : { apiKey });
  };
  const submit = (client: Comfy, graph: Graph): ReturnType<Comfy['submit']> =>
    client.submit(client.workflows.fromJson(graph));
  const failure = async (work: () => Promise<unknown>): Promise<unknown> =>
    work().then(
      () => 'it succeeded',
      (error: unknown) => error,
    );

  describe(`the official client on ${surface}`, () => {
    let client: Comfy;
    let folder: string;
    let picture: Buffer;
    beforeAll(async () => {
      client = connect();
      folder = await mkdtemp(join(tmpdir(), 'millrace-client-'));
      // Its bytes are new to the service: no earlier run sent them.
      const noise = { mean: 128, sigma: 40, type: 'gaussian' as const };
      picture = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#369', noise } })
        .png()
        .toBuffer();
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('uploads an input once, runs a graph, and has its outputs whole, in part, in a file and by a link', async () => {
      const asset = client.assets.fromBytes(picture, { filename: 'in.png' });
      const workflow = client.workflows.fromJson(structuredClone(LOADED));
      workflow.setInput('1', 'image', asset);
      const job = await client.run(workflow);
      expect(job.status).toBe('succeeded');
      expect(asset.createdNew).toBe(true);
      const again = client.assets.fromBytes(picture, { filename: 'in.png' });
      await again.commit();
      expect([again.createdNew, await again.hash()]).toEqual([false, await asset.hash()]);
      const renamed = client.assets.fromBytes(picture, { filename: 'another-name.png' });
      await renamed.commit();
      expect([renamed.createdNew, renamed.id === asset.id]).toEqual([false, false]);

      const [output] = job.getOutputs('3');
      if (output === undefined) throw new Error('there is no output');
      expect([output.nodeId, output.type, output.contentType]).toEqual(['3', 'image', 'image/png']);
      const bytes = Buffer.from(await output.toBytes());
      expect(bytes).toHaveLength(output.sizeBytes);
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      expect(Buffer.from(await output.toBytes({ range: [1, 3] })).toString()).toBe('PNG');
      expect(await readFile(await output.toFile(join(folder, 'out.png')))).toEqual(bytes);
      const { url } = await output.getDownloadUrl();
      const headers = target().apiKey === undefined ? undefined : { authorization: `Bearer ${target().apiKey}` };
      const linked = await fetch(url, new URL(url).pathname.startsWith('/api/') ? { headers } : {});
      expect(Buffer.from(await linked.arrayBuffer())).toEqual(bytes);

      const held = await client.assets.get(output.id);
      expect([held.id, held.jobId]).toEqual([output.id, job.id]);
      expect(await failure(() => client.assets.delete(output.id))).toMatchObject({
        code: 'asset_in_use',
        httpStatus: 409,
      });
      const id = await again.commit();
      await again.delete();
      expect(await failure(() => client.assets.get(id))).toBeInstanceOf(NotFound);
    });

    it('watches a job to its end by events', async () => {
      const job = await submit(client, growing(128, 600));
      const kinds: string[] = [];
      const outputs: string[] = [];
      for await (const event of job.events()) {
        kinds.push(event.kind);
        if (event.kind === 'outputReady') outputs.push(event.output.id);
      }
      expect(kinds[0]).toBe('statusChange');
      expect(kinds.at(-1)).toBe('statusChange');
      expect(kinds).toContain('progress');
      await job.refresh();
      expect(job.status).toBe('succeeded');
      expect(outputs).toEqual(job.outputs.map((output) => output.id));
    });

    it('cancels a job that runs, and receives that in its events', async () => {
      const job = await submit(client, growing(512, 10_000));
      for await (const event of job.events()) {
        if (event.kind === 'progress' && event.value > 0) break;
      }
      await job.cancel();
      expect(['canceling', 'canceled']).toContain(job.status);
      for await (const event of job.events()) if (event.kind === 'statusChange' && event.status === 'canceled') break;
      await job.wait(240_000);
      expect(job.status).toBe('canceled');
      expect(await failure(() => job.result())).toBeInstanceOf(JobFailed);
      await job.cancel();
      expect(job.status).toBe('canceled');
    });

    it('reads a workflow back, and goes on with a job from another process by its id alone', async () => {
      const { id } = await submit(client, NUMBER);
      expect(await (await client.jobs.get(id)).getWorkflow()).toEqual({ workflow: NUMBER, format: 'api' });
      const job = await connect(target().otherBaseUrl).jobs.get(id);
      await job.result();
      const [output] = job.getOutputs('2');
      expect(Buffer.from((await output?.toBytes()) ?? []).toString()).toBe('7');
    });

    it('runs 50 jobs at once', async () => {
      const jobs = await Promise.all(Array.from({ length: 50 }, () => client.run(client.workflows.fromJson(NUMBER))));
      expect(new Set(jobs.map((job) => job.id)).size).toBe(50);
      expect(new Set(jobs.map((job) => job.status))).toEqual(new Set(['succeeded']));
    });

    it('throws what went wrong as an error of its own kind', async () => {
      const unknown: Graph = { '1': { class_type: 'NoSuchNode', inputs: {} } };
      const invalid = await failure(() => submit(client, unknown));
      expect(invalid).toBeInstanceOf(InvalidWorkflow);
      expect(invalid).toMatchObject({
        httpStatus: 422,
        details: { node_errors: { '1': [{ field: 'class_type', reason: 'unknown_node_class' }] } },
      });
      const ui = client.workflows.fromJson({ nodes: [], links: [] });
      expect(await failure(() => client.submit(ui))).toBeInstanceOf(WorkflowFormatUi);
      const missing = structuredClone(LOADED);
      const loader = missing['1'];
      if (loader !== undefined) loader.inputs.image = { __type: 'core/ASSET', info: { id: newId() } };
      expect(await failure(() => submit(client, missing))).toBeInstanceOf(MissingAsset);
      expect(await failure(() => client.jobs.get(newId()))).toBeInstanceOf(NotFound);
      const workflow = client.workflows.fromJson(NUMBER);
      const idempotencyKey = newId();
      await client.submit(workflow, { idempotencyKey });
      expect(await failure(() => client.submit(workflow, { idempotencyKey }))).toBeInstanceOf(IdempotencyKeyReuse);
      expect(await failure(() => connect(target().baseUrl, 'mr_live_nonsense').jobs.get(newId()))).toBeInstanceOf(
        target().asksForKeys ? Unauthorized : NotFound,
      );
      expect(Forbidden.prototype).toBeInstanceOf(Error);
    });

    it('receives the error of a failed run, with the node at fault', async () => {
      const broken = client.assets.fromBytes(Buffer.from('\x89PNG\r\n\x1a\n no picture', 'latin1'), {
        filename: 'b.png',
      });
      const workflow = client.workflows.fromJson(structuredClone(LOADED));
      workflow.setInput('1', 'image', broken);
      const failed = await failure(() => client.run(workflow));
      expect(failed).toBeInstanceOf(JobFailed);
      expect(failed).toMatchObject({ error: { code: 'node_execution_error', node_id: '1', class_type: 'LoadImage' } });
    });

    it('hands over a credential for partner nodes', async () => {
      const job = await client.run(client.workflows.fromJson(NUMBER), { apiKey: 'of a partner' });
      expect(job.status).toBe('succeeded');
    });
  });
}
