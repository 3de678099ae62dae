// Loaded by `npm run coverage`, before the tests: lets cells that run under Node's permission flags be measured.
// V8 counts through the inspector, which those flags close. Node 24 and later can open it again; on older versions
// such cells stay uncounted.
import { createRequire, syncBuiltinESMExports } from "node:module";

const threads = createRequire(import.meta.url)("node:worker_threads");
const { Worker } = threads;

if (process.allowedNodeEnvironmentFlags.has("--allow-inspector")) {
  threads.Worker = class extends Worker {
    constructor(file, options = {}) {
      super(file, { ...options, execArgv: withInspector(options.execArgv) });
    }
  };
  syncBuiltinESMExports();
}

function withInspector(execArgv) {
  return execArgv?.includes("--permission") ? [...execArgv, "--allow-inspector"] : execArgv;
}
