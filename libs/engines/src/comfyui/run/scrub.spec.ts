import fc from 'fast-check';
import { readCapture } from '../../../fixtures/read-captures';
import { beginningToScrub, createScrubber, endToScrub } from './scrub';

const { failure, log } = createScrubber(
  ['/srv/comfyui/custom_nodes', '/srv/comfyui', '/data/gpu0/output/', '/'],
  ['sk-secret-1', 'abc'],
);

describe('a scrubbed text', () => {
  it('has a marker where ComfyUI’s folders stood', () => {
    expect(failure('File "/srv/comfyui/execution.py", line 4')).toBe('File "<comfyui>/execution.py", line 4');
    expect(failure('/srv/comfyui/custom_nodes/pack/x.py')).toBe('<comfyui>/custom_nodes/pack/x.py');
    expect(failure('at /data/gpu0/output/a.png')).toBe('at <comfyui>/a.png');
    expect(log('saved /srv/comfyui/output/a.png')).toBe('saved <comfyui>/output/a.png');
  });

  it('has a marker where Python’s stood', () => {
    const site = 'File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules.py"';
    expect(failure(site)).toBe('File "<python>/torch/nn/modules.py"');
    expect(log('File "/usr/lib/python3.11/asyncio/base.py"')).toBe('File "<python>/asyncio/base.py"');
    expect(log('C:\\py\\Lib\\site-packages\\a.py, /b/dist-packages/c')).toBe('<python>\\a.py, <python>/c');
    expect(log('in /x/site-packages')).toBe('in /x/site-packages');
  });

  it('has only the last name of any other path, in a failure', () => {
    expect(failure("No such file: '/home/someone/models/x.ckpt'")).toBe("No such file: '<path>/x.ckpt'");
    expect(failure('C:\\Users\\someone\\x.ckpt is missing')).toBe('<path>\\x.ckpt is missing');
    expect(log('see /home/someone/x.ckpt')).toBe('see /home/someone/x.ckpt');
  });

  it('keeps what only looks like a path', () => {
    for (const text of ['https://example.com/a/b', 'and/or', '1/2/3', 'image/png', 'a -> b', '/', 'a / b / c']) {
      expect(failure(text)).toBe(text);
    }
    expect(failure('/srv/comfyui-other/x.py')).toBe('<path>/x.py');
  });

  it('says no secret, however short the words around it', () => {
    expect(log('key=sk-secret-1;')).toBe('key=[redacted];');
    expect(log('abc')).toBe('abc');
  });

  it('names no folder of the machine in any recorded traceback', () => {
    for (const name of ['fail', 'expand_fail'] as const) {
      const traceback = readCapture(name)
        .lines.map((line) => (line.kind === 'text' ? line.text : ''))
        .join('\n');
      expect(failure(traceback)).not.toContain('/srv');
    }
  });

  it('takes time in proportion to its length', () => {
    const long = '/abcdef'.repeat(50_000);
    expect(failure(long).length).toBeLessThan(long.length);
    const slashes = '/'.repeat(1_000_000);
    expect(failure(slashes)).toBe(slashes);
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', 'a', ' ', '"', ':', '\\') }),
        (text) => typeof failure(text) === 'string',
      ),
    );
  });
});

describe('what is scrubbed of a long text', () => {
  it('is the whole of one that may be shown', () => {
    expect(beginningToScrub('a b', 2)).toBe('a b');
    expect(endToScrub('a b', 2)).toBe('a b');
  });

  it('is at most twice what is shown, without the word that was cut', () => {
    expect(beginningToScrub('shown /hal/ved', 5)).toBe('shown');
    expect(endToScrub('/hal/ved shown', 6)).toBe(' shown');
  });

  it('is what is shown where a word has no end', () => {
    expect(beginningToScrub('/'.repeat(1_000_000), 100)).toBe('/'.repeat(100));
    expect(endToScrub('/'.repeat(1_000_000), 100)).toBe('/'.repeat(100));
  });
});
