/** The processes, by the names of their files. What they use of packages they load from one file beside them. */
export const PROCESSES = {
  api: 'apps/api/src/main.js',
  worker: 'apps/worker/src/main.js',
  maintenance: 'apps/maintenance/src/main.js',
  fleet: 'apps/fleet/src/main.js',
  gateway: 'apps/gateway/src/main.js',
};
/** What a process starts by the name of a file beside its own. Each is complete in itself: a thread needs few packages. */
export const THREADS = {
  'examination.thread': 'libs/jobs/src/examination/examination.thread.js',
  'process-entry': 'libs/cpu-engine/src/process/process-entry.js',
  'thread-entry': 'libs/cpu-engine/src/process/thread-entry.js',
};
/** The bundles that a process runs, where there are more than its own. */
export const RUNS = {
  api: ['api', 'examination.thread'],
  worker: ['worker', 'process-entry', 'thread-entry'],
  fleet: ['fleet', 'worker', 'process-entry', 'thread-entry'],
};
/**
 * What a bundle reads from beside its file.
 *
 * @type {Record<string, string[]>}
 */
export const BESIDE = {
  api: [
    'apps/api/src/pages/page.css',
    'apps/api/src/openapi/reference/reference.css',
    'apps/api/src/openapi/reference/operations.css',
    'apps/api/src/status/status.css',
  ],
};
