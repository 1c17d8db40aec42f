import { defineConfig } from "vitest/config";

// The tests on the real control plane. One file at a time: they share one API server and two cores.
export default defineConfig({
  test: {
    include: ["test/cluster/**/*.test.ts"],
    exclude: ["node_modules/**"],
    globalSetup: ["test/cluster/global-setup.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
});
