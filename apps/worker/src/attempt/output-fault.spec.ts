import { BlobStoreError } from '@millrace/assets';
import { outputFaultOf } from './output-fault';
import { OutOfReach } from './out-of-reach';

it.each([
  ['the worker, which does not reach where outputs are kept', new OutOfReach('no answer'), 'out_of_reach'],
  ['the store, which does not answer', new BlobStoreError('unreachable', 'no answer'), 'failed'],
  ['the database, which is away', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 'failed'],
  ['the graph, as with all that nobody foresaw', new Error('what?'), 'refused'],
])('an output is not kept by the fault of %s', (_, error, status) => {
  expect(outputFaultOf(error)).toMatchObject({ status });
});
