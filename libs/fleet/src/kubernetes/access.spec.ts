import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { readTemplates, serviceAccount } from './access';

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.drop());
const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);

describe('the service account of a pod', () => {
  it('is refused outside of a cluster, and where it is not mounted', () => {
    expect(() => serviceAccount(folder.path, null, {})).toThrow('runs in no cluster');
    expect(() => serviceAccount(folder.path, 'http://127.0.0.1:1', {})).toThrow('there is no service account in');
  });

  it('asks the server of its cluster, with its token and the authority of the cluster', () => {
    write('token', 'secret\n');
    write('namespace', 'here\n');
    const server = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const { access, namespace } = serviceAccount(folder.path, null, server);
    expect([access.url, access.caFile, namespace]).toEqual(['https://[fd00::1]:6443', null, 'here']);
    write('ca.crt', 'x');
    expect(serviceAccount(folder.path, null, server).access.caFile).toBe(join(folder.path, 'ca.crt'));
    expect(serviceAccount(folder.path, 'http://127.0.0.1:1', server).access.url).toBe('http://127.0.0.1:1');
  });
});

describe('the templates of a chart', () => {
  it('are refused with the name of the file that is missing or is none', () => {
    expect(() => readTemplates(folder.path)).toThrow('cpu.json: ENOENT');
    write('cpu.json', '{"kind":"Pod"}');
    expect(() => readTemplates(folder.path)).toThrow('cpu.json: it is not a Deployment');
  });
});
