import { defineConfig } from "vitest/config";

// The tests that need nothing but Node. What needs the real API server is in vitest.cluster.config.ts.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/cluster/**", "node_modules/**"],
    globalSetup: ["test/temporary-folder.ts"],
    // Files share a worker and its loaded modules, which halves the time: no test of ours leaves anything in a module.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
    // A hook may start Azurite, which takes seconds on a loaded machine.
    hookTimeout: 60_000,
  },
});
