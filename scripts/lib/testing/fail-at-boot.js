'use strict';
// Loaded before a process of ours: its boot fails at the first thing that it does with its output.
process.stdout.on = () => {
  throw new Error('The output is gone.');
};
