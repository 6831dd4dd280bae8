import { BlobStoreError } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { OutputRefused } from '@millrace/jobs';
import { outputFaultOf } from './output-fault';
import { OutOfReach } from './out-of-reach';

it.each([
  ['the worker, which does not reach where outputs are kept', new OutOfReach('no answer'), 'out_of_reach'],
  ['the store, which does not answer', new BlobStoreError('unreachable', 'no answer'), 'failed'],
  ['the database, which is away', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 'failed'],
  ['what altered its bytes on the way', new Refusal('hash_mismatch', 'Other bytes arrived.'), 'failed'],
  ['what cut its bytes off on the way', new Refusal('invalid_request', 'The body broke off.'), 'failed'],
  ['a gateway of another version', new Refusal('not_found', 'There is nothing at this path.'), 'failed'],
  ['a gateway that has another key by now', new Refusal('forbidden', 'The output is not of this attempt.'), 'failed'],
  ['the graph, which made it too large', new Refusal('payload_too_large', 'It is too large.'), 'refused'],
  ['the graph, whose output cannot be recorded', new OutputRefused('its name is taken'), 'refused'],
  ['the graph, as with all that nobody foresaw', new Error('what?'), 'refused'],
])('an output is not kept by the fault of %s', (_, error, status) => {
  expect(outputFaultOf(error)).toMatchObject({ status });
});
