// The process of BullMQ workers with default options that take a job and never end it: for the bench that kills it.
import process from 'node:process';
import { Worker } from 'bullmq';

const [url, ...queues] = process.argv.slice(2);

process.on('disconnect', () => process.exit());
for (const queue of queues) {
  const run = async () => {
    process.send?.(queue);
    await new Promise(() => undefined);
  };
  const worker = new Worker(queue, run, { connection: { url, maxRetriesPerRequest: null } });
  worker.on('error', (error) => process.emitWarning(error));
}
