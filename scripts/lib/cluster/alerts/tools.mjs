import { readFileSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { Failure } from '../../command/index.mjs';
import { onDatabase } from '../../prisma/index.mjs';
import { until } from '../client.mjs';
import { NAMESPACE, RELEASE } from '../helm.mjs';
import { BUCKET } from '../servers.mjs';

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

/** @typedef {() => Promise<unknown>} Undo */

/** What operators and accidents do to a release. */
export class AlertTools {
  /**
   * @param {import('../release.mjs').Site} site
   * @param {import('../service.mjs').InstalledService} service
   * @param {import('../../services/fleet.mjs').Fleet} fleet
   */
  constructor({ scope, servers, client }, service, fleet) {
    this.scope = scope;
    this.servers = servers;
    this.client = client;
    this.service = service;
    this.fleet = fleet;
    /** What failed last in work that is repeated; it may be what is to happen. */
    this.lastFailure = '';
  }

  /**
   * @param {string} text
   * @param {unknown[]} [values]
   * @returns {Promise<Record<string, unknown>[]>} rows
   */
  sql(text, values = []) {
    return onDatabase(
      this.servers.databaseUrl,
      async (
        /** @type {{ query: (text: string, values: unknown[]) => Promise<{ rows: Record<string, unknown>[] }> }} */ client,
      ) => (await client.query(text, values)).rows,
    );
  }

  /** @returns {Undo} end a transaction that does nothing but stay open until then */
  openTransaction() {
    let end = () => {};
    const ended = new Promise((resolve) => (end = () => resolve(undefined)));
    const open = onDatabase(
      this.servers.databaseUrl,
      async (/** @type {{ query: (text: string) => Promise<unknown> }} */ client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
        await client.query('SELECT FROM pools');
        await ended;
      },
    );
    return async () => {
      end();
      await open;
    };
  }

  /**
   * @template T
   * @param {(call: (...command: string[]) => Promise<unknown>) => Promise<T>} use
   * @returns {Promise<T>}
   */
  async redis(use) {
    const { Redis } = await import('ioredis');
    const redis = new Redis(this.servers.redisUrl, { maxRetriesPerRequest: 1 });
    try {
      return await use((command = '', ...rest) => redis.call(command, ...rest));
    } finally {
      redis.disconnect();
    }
  }

  /**
   * Bytes are lost from the store, as by a mistake of who keeps the bucket.
   *
   * @param {string} part of their keys
   */
  async removeFromBucket(part) {
    const { S3Client, DeleteObjectCommand, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
    const { endpoint, accessKeyId, secretAccessKey } = this.servers.s3;
    const credentials = { accessKeyId, secretAccessKey };
    const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
    try {
      const { Contents: found = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
      const keys = found.flatMap(({ Key }) => (Key?.includes(part) ? [Key] : []));
      if (keys.length === 0) throw new Failure(`The bucket has nothing with ${part} in its key.`);
      for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    } finally {
      client.destroy();
    }
  }

  /**
   * Rows of a table cannot be changed.
   *
   * @param {string} table
   * @param {string} when of SQL, about `old`
   * @returns {Promise<Undo>}
   */
  async refuseChanges(table, when) {
    await this.sql(`CREATE OR REPLACE FUNCTION refuse_of_test() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$`);
    await this.sql(`CREATE TRIGGER a_refusal_of_test BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${when})
      EXECUTE FUNCTION refuse_of_test()`);
    return () => this.sql(`DROP TRIGGER a_refusal_of_test ON ${table}`);
  }

  /**
   * @param {string} selector
   * @returns {Promise<import('../client.mjs').KubernetesObject[]>} pods that are not going
   */
  async pods(selector) {
    const found = await this.client.list(`${PODS}?labelSelector=${encodeURIComponent(selector)}`);
    return found.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  /**
   * @param {string} component
   * @param {number} replicas
   * @returns {Promise<Undo>} back to what it was, and until that is ready
   */
  async scale(component, replicas) {
    const selector = `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=${component}`;
    const [found] = await this.client.list(`${DEPLOYMENTS}?labelSelector=${encodeURIComponent(selector)}`);
    if (!found) throw new Failure(`There is no Deployment of ${component}.`);
    const path = `${DEPLOYMENTS}/${found.metadata.name}`;
    const before = /** @type {{ replicas?: number }} */ (found.spec).replicas ?? 1;
    await this.client.patch(path, { spec: { replicas } });
    return async () => {
      await this.client.patch(path, { spec: { replicas: before } });
      await this.isReady(path, before);
    };
  }

  /**
   * @param {string} path of a Deployment
   * @param {number} replicas
   */
  async isReady(path, replicas) {
    await until(this.scope, `${path} to be ready`, async () => {
      const { status } = await this.client.get(path);
      const { readyReplicas = 0, replicas: all = 0 } = /** @type {{ readyReplicas?: number, replicas?: number }} */ (
        status ?? {}
      );
      return readyReplicas === replicas && all === replicas;
    });
  }

  /** All processes of the release are ready, and Services lead to them. */
  async allAreReady() {
    const selector = encodeURIComponent(`app.kubernetes.io/instance=${RELEASE}`);
    await until(this.scope, 'All processes of the release to be ready', async () => {
      const deployments = await this.client.list(`${DEPLOYMENTS}?labelSelector=${selector}`);
      const faults = deployments.filter(({ spec, status }) => {
        const wanted = /** @type {{ replicas?: number }} */ (spec).replicas ?? 1;
        return (status?.readyReplicas ?? 0) !== wanted;
      });
      if (faults.length > 0) throw new Failure(`not so ${faults.map(({ metadata }) => metadata.name).join(', ')}`);
      return true;
    });
    for (const origin of [this.service.publicUrl, this.service.opsUrl]) {
      // By a connection of its own: one that is kept leads to a process without its Service.
      await until(this.scope, `${origin} to answer`, async () => {
        await fetch(origin, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) });
        return true;
      });
    }
  }

  /** Replace the maintenance process: every loop runs at once. */
  async restartMaintenance() {
    const selector = 'app.kubernetes.io/component=maintenance';
    const before = await this.pods(selector);
    await this.kill(before);
    await until(this.scope, 'Maintenance to be ready again', async () => {
      const now = await this.pods(selector);
      const ready = now.filter(({ status }) => status?.containerStatuses?.every(({ ready: is }) => is));
      const isNew = ready.every(({ metadata }) => before.every((old) => old.metadata.uid !== metadata.uid));
      return ready.length === before.length && isNew;
    });
  }

  /**
   * As a node that is lost takes them.
   *
   * @param {import('../client.mjs').KubernetesObject[]} pods
   */
  async kill(pods) {
    for (const { metadata } of pods) await this.client.delete(`${PODS}/${metadata.name}`, { gracePeriodSeconds: 0 });
  }

  /** @returns {number} the process of the only worker */
  workerPid() {
    const pids = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && commandOf(name).includes('dist/bin/worker.js'),
    );
    const [pid] = pids;
    if (pid === undefined || pids.length > 1)
      throw new Failure(`There are ${pids.length} workers, where one was awaited.`);
    return Number(pid);
  }

  /**
   * @param {number} pid
   * @param {'SIGSTOP' | 'SIGCONT'} signal
   */
  signal(pid, signal) {
    process.kill(pid, signal);
  }

  /**
   * Do something again and again, beside everything else.
   *
   * @param {() => Promise<unknown>} work what fails in it is what is to happen
   * @param {number} [times] so many side by side
   * @returns {Undo} end it
   */
  repeat(work, times = 1) {
    let isOn = true;
    const go = async () => {
      while (isOn && !this.scope.signal.aborted) {
        await work().catch((/** @type {Error} */ { message }) => (this.lastFailure = message));
        // Something that fails at once leaves others their turn.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const running = Promise.all(Array.from({ length: times }, go));
    return async () => {
      isOn = false;
      await running;
    };
  }
}

/** @param {string} pid */
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
