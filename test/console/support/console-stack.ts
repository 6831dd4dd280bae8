import { TestStack, type TestStackOptions } from '@millrace/testing';
import { ConsoleBrowser } from './console-browser';

/**
 * A stack and a browser, started once for the suites of one file. Each suite makes accounts of its own. Pages are closed after the test
 * that opened them: an open page polls and draws.
 */
export class ConsoleStack {
  stack!: TestStack;
  browser!: ConsoleBrowser;

  /** Called at the top of a test file. */
  constructor(options: TestStackOptions) {
    beforeAll(async () => {
      this.stack = await TestStack.start(options);
      this.browser = await ConsoleBrowser.launch(this.stack);
    });
    afterEach(async () => {
      await this.browser.closePages();
      expect(this.browser.faults).toEqual([]);
    });
    afterAll(async () => {
      await this.browser.close();
      await this.stack.stop();
    });
  }
}
