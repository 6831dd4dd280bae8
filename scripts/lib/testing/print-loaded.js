// Required before a program: it prints, when it ends, the files that it has loaded, as a JSON list on its last line.
process.on('exit', () => process.stdout.write(`\n${JSON.stringify(Object.keys(require.cache))}\n`));
