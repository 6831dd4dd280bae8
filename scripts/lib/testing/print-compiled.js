'use strict';
// Preloaded into a process: prints, for each script that it loads with code compiled before, whether V8 took that code.
const vm = require('node:vm');

vm.Script = class extends vm.Script {
  /** @param {ConstructorParameters<typeof vm.Script>} parameters */
  constructor(...parameters) {
    super(...parameters);
    if (this.cachedDataRejected !== undefined) console.log(JSON.stringify({ rejected: this.cachedDataRejected }));
  }
};
