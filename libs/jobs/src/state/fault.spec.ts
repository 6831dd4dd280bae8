import { JOB_ERROR_CODES } from '@millrace/contracts';
import { faultOf } from './fault';

describe('whose fault the end of a job is', () => {
  it('nobody’s, of a job that succeeded or was canceled', () => {
    expect(faultOf('succeeded', null)).toBe('none');
    expect(faultOf('canceled', null)).toBe('none');
  });

  it('the caller’s, of a graph that fails, runs too long or costs more than there is', () => {
    const callers = JOB_ERROR_CODES.filter((code) => faultOf('failed', code) === 'caller');
    expect(callers).toEqual(['node_execution_error', 'execution_timeout', 'credits_exhausted']);
  });

  it('the service’s, of all else, also of what is not known', () => {
    const services = JOB_ERROR_CODES.filter((code) => faultOf('failed', code) === 'service');
    expect(services).toEqual([
      'worker_lost',
      'engine_error',
      'input_unavailable',
      'output_storage_error',
      'credential_unavailable',
    ]);
    expect(faultOf('failed', 'a_code_of_a_later_version')).toBe('service');
    expect(faultOf('failed', null)).toBe('service');
  });

  it('the service’s, of a job that was not finished by its deadline', () => {
    expect(faultOf('expired', 'execution_timeout')).toBe('service');
  });
});
